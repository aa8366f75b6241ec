import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal, integer, share, units } from '../../src/base/amounts.ts';
import { duration } from '../../src/base/durations.ts';
import { instantAt, time } from '../../src/base/times.ts';
import { baseUrl, isLoopback } from '../../src/base/url-values.ts';
import { parseBaseUrl } from '../../src/core/http/base-url.ts';
import { proxyFor } from '../../src/core/http/proxy-env.ts';
import { readSubject } from '../../src/core/lookup/subject.ts';
import { readCsv } from '../../src/input/csv.ts';
import { readSubjects } from '../../src/input/subject-list.ts';
import { at, parseFields, pickFields } from '../../src/output/format/fields.ts';
import { jsonLine } from '../../src/output/format/ndjson.ts';
import { collect } from '../core/fakes.ts';
import { fieldsView, print } from '../output/print.ts';
import { holds, holdsInTime, jsonOf, read, readInTime, torn } from './fuzz.ts';

const NOW = 1_700_000_000_000;
const CALENDAR = 8.64e15;

/** Words made from spaces and the tokens of a grammar, in any order. */
const wordsOf = (grammar: string) =>
  torn(
    fc
      .array(fc.constantFrom(' ', ...grammar.split(' ')), { maxLength: 8 })
      .map((some) => some.join('')),
  );
const digits = fc.integer({ min: 1, max: 400 }).map((length) => '9'.repeat(length));
const numeric = fc.oneof(
  wordsOf('0 1 9 . , _ - + e k M % Infinity NaN 0x1f'),
  digits,
  fc.integer().map(String),
  fc.double().map(String),
);
const lengths = fc.oneof(
  wordsOf('1 90 0.5 . ms s m h d w -'),
  digits.map((some) => `${some}w`),
  numeric,
);

describe('a number on the command line', () => {
  test('is within its bounds, or rejected', () => {
    holds(numeric, (given) => {
      const whole = integer({ min: 1, max: 100 }).read(given);
      if (whole !== undefined)
        expect(Number.isSafeInteger(whole) && whole >= 1 && whole <= 100).toBe(true);
      const any = integer().read(given);
      if (any !== undefined) expect(Number.isSafeInteger(any)).toBe(true);
      const part = decimal({ min: 0 }).read(given);
      if (part !== undefined) expect(Number.isFinite(part) && part >= 0).toBe(true);
      const fraction = share.read(given);
      if (fraction !== undefined) expect(fraction >= 0 && fraction <= 1).toBe(true);
    });
  });

  test('of units is an integer, and its text reads back', () => {
    holds(numeric, (given) => {
      const amount = units.read(given);
      if (amount === undefined) return;
      expect(Number.isSafeInteger(amount) && amount >= 0).toBe(true);
      expect(units.read(String(amount))).toBe(amount);
    });
  });

  test('of units may be given in thousands and millions, to the unit', () => {
    holds(fc.nat({ max: 10_000_000 }), (amount) => {
      const thousands = `${Math.floor(amount / 1_000)}.${String(amount % 1_000).padStart(3, '0')}k`;
      const millions = `${Math.floor(amount / 1e6)}.${String(amount % 1e6).padStart(6, '0')}M`;
      expect([units.read(thousands), units.read(millions)]).toEqual([amount, amount]);
    });
  });
});

describe('a duration', () => {
  test('is a valid duration, or rejected', () => {
    holds(lengths, (given) => {
      const ms = duration.read(given);
      if (ms === undefined) return;
      expect(ms >= 0 && ms <= Number.MAX_SAFE_INTEGER).toBe(true);
      expect(duration.read(`${ms}ms`)).toBe(ms);
    });
  });

  test('reads back from its text', () => {
    holds(fc.nat({ max: 999 }), fc.constantFrom('ms', 's', 'm', 'h', 'd', 'w'), (count, unit) => {
      const each = { ms: 1, s: 1e3, m: 6e4, h: 3.6e6, d: 8.64e7, w: 6.048e8 }[unit] ?? 0;
      expect(duration.read(`${count}${unit}`)).toBe(count * each);
    });
  });
});

describe('a time', () => {
  const dates = wordsOf('2026 - 01 02 31 T 09:30 :00 Z +02:00 .5 13 24:00 (x)');
  test('is a valid date, or rejected', () => {
    holds(fc.oneof(dates, lengths, numeric), (given) => {
      const instant = time.read(given);
      if (instant === undefined) return;
      const epochMs = instantAt(instant, NOW, false);
      expect(Math.abs(epochMs)).toBeLessThanOrEqual(CALENDAR);
      expect(() => new Date(epochMs).toISOString()).not.toThrow();
    });
  });

  test('in ISO format is read exactly', () => {
    holds(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), (date) => {
      expect(time.read(date.toISOString())).toEqual({ epochMs: date.getTime() });
      const day = date.toISOString().slice(0, 10);
      expect(instantAt(time.read(day) ?? { day: 0 }, NOW, true)).toBe(Date.parse(day));
    });
  });
});

describe('a subject', () => {
  const forms = fc.oneof(
    wordsOf('@ 0x a F 0 O 1 mira / .. ? # % :// - \u202e'),
    torn(fc.uuid()),
    torn(fc.stringMatching(/^0x[0-9a-fA-F]{38,42}$/)),
    torn(fc.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{31,46}$/)),
  );
  test('is detected by its format or rejected, always the same way', () =>
    holdsInTime(forms, fc.constantFrom(undefined, 'handle', 'wallet', 'id'), async (given, as) => {
      const subject = await readInTime(async () => readSubject(given, as));
      if (!subject) return;
      if (as) expect(subject.type).toBe(as);
      expect(subject.value.length).toBeGreaterThan(0);
      expect(subject.value.length).toBeLessThanOrEqual(128);
      expect(subject.value).not.toMatch(/[\s\p{Cc}\p{Cs}]/u);
      expect(await readSubject(subject.value, subject.type)).toMatchObject({
        type: subject.type,
        value: subject.value,
        normal: subject.normal,
      });
      expect((await readSubject(subject.normal, subject.type)).normal).toBe(subject.normal);
    }));

  test('of a wallet is an address: 32 bytes, or 20 in hex', () =>
    holdsInTime(forms, async (given) => {
      const subject = await readInTime(async () => readSubject(given));
      if (subject?.type === 'wallet')
        expect(subject.value).toMatch(/^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/);
    }));
});

/** A text, or its bytes, in chunks of any size. */
async function* pieces<T extends Buffer | readonly string[]>(whole: T, sizes: readonly number[]) {
  let from = 0;
  for (let turn = 0; from < whole.length; turn++) {
    const size = sizes[turn % Math.max(1, sizes.length)] ?? whole.length;
    yield whole.slice(from, from + size);
    from += size;
  }
}
async function* textIn(text: string, sizes: readonly number[]): AsyncGenerator<string> {
  for await (const some of pieces([...text], sizes)) yield some.join('');
}
const bytesIn = (text: string, sizes: readonly number[]) => pieces(Buffer.from(text), sizes);
const cuts = fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 5 });

describe('CSV input', () => {
  const marks = wordsOf('a " "" , \n \r \r\n b 😀');
  test('gives the same rows with any chunk boundaries', () =>
    holdsInTime(marks, cuts, async (text, sizes) => {
      const whole = await readInTime(() => collect(readCsv(textIn(text, []))));
      expect(await readInTime(() => collect(readCsv(textIn(text, sizes))))).toEqual(whole);
      for (const row of whole ?? []) expect(row.line).toBeGreaterThan(0);
    }));

  test('reads CSV written by trdr', () =>
    holdsInTime(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 4 }),
      async (cells) => {
        const record = Object.fromEntries(cells.map((cell, at) => [`c${at}`, cell]));
        const { text } = await print([record], { view: fieldsView(), format: 'csv' });
        const [, row] = await collect(readCsv(textIn(text, [])));
        const isSame = (cell: string, index: number) =>
          cell === cells[index] || cells[index] === `'${cell}`;
        expect(row?.cells.every(isSame)).toBe(true);
      },
    ));

  test('is read by column with line numbers, or rejected', () =>
    holdsInTime(marks, cuts, async (text, sizes) => {
      const stdin = bytesIn(`handle,b\n${text}`, sizes);
      const source = { words: ['-'], file: undefined, column: 'handle' };
      const given = await readInTime(() =>
        collect(readSubjects(source, { stdin: stdin as never })),
      );
      for (const { text: subject, where } of given ?? []) {
        expect(subject).toBe(subject.trim());
        expect(subject).not.toBe('');
        expect(Number(where?.slice(5))).toBeGreaterThan(1);
      }
    }));
});

describe('lines of input', () => {
  test('are the same subjects with any line ends and chunk boundaries', () =>
    holdsInTime(
      // A line that an export has disarmed with a quote is read without it.
      fc.array(fc.string({ maxLength: 4 }).filter((line) => !/[\r\n]|^\s*'/.test(line))),
      cuts,
      async (others, sizes) => {
        const source = { words: ['-'], file: undefined, column: undefined };
        // Only the first line distinguishes a list from a table.
        const rows = ['mira', ...others];
        const wanted = rows
          .map((row) => row.trim())
          .filter((row) => row !== '' && !row.startsWith('#'));
        for (const end of ['\n', '\r\n']) {
          const stdin = bytesIn(`\uFEFF${rows.join(end)}`, sizes);
          const given = await collect(readSubjects(source, { stdin: stdin as never }));
          expect(given.map(({ text }) => text)).toEqual(wanted);
        }
      },
    ));
});

describe('a base URL', () => {
  const urls = wordsOf(
    'http https ftp : // 127.0.0.1 localhost [::1] a.b @ user:pw@ :80 / x ? # \\ .. %2e \u0000 ａ',
  );
  test('is safe to send a key to, or rejected', () => {
    holds(urls, (given) => {
      const base = read(() => parseBaseUrl(given));
      if (!base) return;
      const url = new URL(`${base.origin}${base.prefix}/v2/me`);
      expect([url.username, url.password, url.search, url.hash]).toEqual(['', '', '', '']);
      expect(url.origin).toBe(base.origin);
      expect(url.pathname).toBe(`${base.prefix}/v2/me`);
      expect(url.protocol === 'https:' || isLoopback(url.hostname)).toBe(true);
      expect(parseBaseUrl(`${base.origin}${base.prefix}`)).toEqual(base);
    });
  });

  test('that a setting accepts is accepted by a run', () => {
    holds(urls, (given) => {
      const kept = baseUrl.read(given);
      if (kept === undefined) return;
      const base = parseBaseUrl(kept, { insecureHttp: true });
      expect(`${base.origin}${base.prefix}`).toBe(kept);
    });
  });
});

describe('the proxy of the environment', () => {
  const proxies = wordsOf('http:// https:// socks5:// user:secret@ proxy :3128 : / [::1] %');
  const exempt = wordsOf('* , . service .example :443 10.0.0.0 /8 / ::1 [ ] -1 999');
  test('is a valid http URL or none, or is rejected without being repeated', () => {
    const targets = fc.constantFrom(
      'https://service.example/',
      'http://10.1.2.3:8080/',
      'https://[2001:db8::1]/',
    );
    holds(proxies, exempt, targets, (proxy, list, target) => {
      try {
        const found = proxyFor(new URL(target), {
          https_proxy: proxy,
          HTTP_PROXY: proxy,
          no_proxy: list,
        });
        if (found) expect(['http:', 'https:']).toContain(found.protocol);
      } catch (error) {
        expect(String(error)).toMatch(/^Failure: /);
        expect(String(error)).not.toContain('secret');
      }
    });
  });
});

describe('--fields', () => {
  const names = 'id a a.b .a.b .x windows.24h.netUsd __proto__ .__proto__ constructor';
  const asked = wordsOf(`${names} , . x`);
  test('are known names, each once, or rejected', () => {
    holds(asked, jsonOf('id', 'a', 'b', 'a.b'), (given, record) => {
      const fields = read(() => parseFields(given, ['id', 'a.b.c', 'windows.24h.netUsd']));
      if (!fields) return;
      expect(new Set(fields).size).toBe(fields.length);
      const picked = pickFields(record, fields);
      for (const path of fields)
        expect(jsonLine(at(picked, path) ?? null)).toBe(jsonLine(at(record, path) ?? null));
    });
  });

  test("find only the record's own fields", () => {
    holds(
      fc.constantFrom(...`${names} toString a.toString a.constructor.name length`.split(' ')),
      jsonOf('id', 'a', 'b'),
      (path, record) => {
        const found = at(record, path);
        if (found !== undefined) expect(JSON.stringify(record)).toContain(JSON.stringify(found));
      },
    );
  });
});
