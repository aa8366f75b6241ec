import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { CachedEndpoint } from '../../src/contract/ports/answers.ts';
import { FileCache } from '../../src/state/cache.ts';
import { parseConfig } from '../../src/state/config/config.ts';
import { openJournal } from '../../src/state/export-journal/open-journal.ts';
import { CallReader, entryText } from '../../src/state/ledger/lines.ts';
import { ledgerEntries, summarize } from '../../src/state/ledger/read-ledger.ts';
import { FileWindows } from '../../src/state/rate-windows.ts';
import { readStart } from '../../src/tail/file/read-start.ts';
import { positionText, readPosition } from '../../src/tail/position.ts';
import { holds, holdsInTime, jsonOf, jsonText, read, torn } from './fuzz.ts';

const folder = mkdtempSync(join(tmpdir(), 'trdr-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const NOW = 1_700_000_000_000;
const KEY = 'trdr_live_0123456789abcdef';
const word = fc.string({ maxLength: 4 });
const moment = fc.nat({ max: 4_000_000 }).map((back) => NOW - back);

describe('a config file', () => {
  const profile = fc.record({ key: fc.constant(KEY), baseUrl: word }, { requiredKeys: [] });
  const config = fc.record({
    version: fc.constantFrom(1, 2, 0),
    current: word,
    profiles: fc.dictionary(word, profile, { maxKeys: 3 }),
  });
  test('is read, or rejected without showing its contents', () => {
    holds(jsonText(config), (text) => {
      try {
        const file = parseConfig(text, '/config.json');
        for (const one of Object.values(file.profiles))
          expect(['string', 'undefined']).toContain(typeof one.key);
      } catch (error) {
        expect(error).toMatchObject({ name: 'Failure', kind: 'local' });
        expect(
          JSON.stringify({ ...(error as Error), message: (error as Error).message }),
        ).not.toContain('trdr_live_');
      }
    });
  });

  test('keeps known and unknown members', () => {
    holds(config, word, jsonOf(), (file, name, more) => {
      const whole = { ...file, version: 1, [`x${name}`]: more };
      expect(parseConfig(JSON.stringify(whole), '/config.json')).toEqual(
        JSON.parse(JSON.stringify(whole)),
      );
    });
  });
});

describe('a line of the ledger', () => {
  const entry = fc.record({
    time: fc.oneof(moment, fc.constantFrom(1e300, -1, 8.64e15 + 1)),
    command: word,
    profile: word,
    endpoint: word,
    status: fc.constantFrom(200, 404, null),
    cu: fc.nat(),
  });
  test('is an entry that can be summed, or nothing', () =>
    holdsInTime(fc.array(jsonText(entry), { maxLength: 4 }), async (lines) => {
      const entries = [...ledgerEntries(lines)];
      for (const by of ['command', 'endpoint', 'day', 'profile'] as const) {
        const sums = await summarize(entries, by);
        expect(sums.reduce((sum, { calls }) => sum + calls, 0)).toBe(entries.length);
      }
    }));

  test('is the entry that was written', () => {
    holds(entry, (one) => {
      expect(new CallReader().read(entryText(one))).toEqual(one);
    });
  });
});

describe('a batch file of a journal', () => {
  const out = join(folder, 'out.ndjson');
  const handles = Array.from({ length: 9 }, (_, at) => `h${at}`);
  const open = (resume: boolean) =>
    openJournal(
      out,
      { texts: handles, size: handles.length, noun: 'the handles' },
      null,
      resume ? 'resume' : 'discard',
      (value) => value,
    );
  const positions = fc.uniqueArray(fc.nat({ max: 8 }), { minLength: 1 });

  test('returns the rows and values that were written', () =>
    holdsInTime(positions, jsonOf('handle'), async (all, value) => {
      const journal = await open(false);
      journal.take(all.map((row) => ({ row, value })));
      journal.close();
      const resumed = await open(true);
      const held = handles.flatMap((_, row) =>
        resumed.states.of(row) === 'answered' ? [{ row, value: resumed.read(row) }] : [],
      );
      resumed.close();
      expect(held.map(({ row }) => row)).toEqual(all.toSorted());
      for (const one of held) expect(one.value).toEqual(JSON.parse(JSON.stringify(value)));
    }));

  test('is not misread', () => {
    const heads = fc.json().map((of) => `{"kind":"asked","positions":${of}}\n`);
    return holdsInTime(fc.oneof(torn(word), heads), async (text) => {
      const journal = await open(false);
      await journal.asking([0]);
      journal.close();
      writeFileSync(join(`${out}.journal`, '0'), text);
      const resumed = await open(true).catch((error) => {
        expect(error).toMatchObject({ kind: 'local' });
      });
      for (const batch of resumed?.openBatches.values() ?? [])
        expect(batch.every((position) => position in handles)).toBe(true);
      resumed?.close();
    });
  });
});

describe('a cached answer', () => {
  const answer = fc.oneof(
    fc.record({ status: fc.constant(200 as const), time: moment, record: jsonOf('id', 'handle') }),
    fc.record({ status: fc.constant(404 as const), time: moment, record: fc.constant(null) }),
  );
  const open = (dir: string) => new FileCache({ dir, baseUrl: 'b', key: 'k', now: () => NOW });
  const only = (cache: FileCache, endpoint: CachedEndpoint, subject: string) =>
    cache.get(endpoint, [subject])[0];

  test('is returned under its own name only', () =>
    holdsInTime(word, answer, async (subject, kept) => {
      const cache = open(join(folder, 'cache'));
      await cache.put('user.handle', new Map([[subject, kept]]));
      expect(only(cache, 'user.handle', subject)).toEqual(JSON.parse(JSON.stringify(kept)));
      expect(only(cache, 'user.handle', `${subject}x`)).toBeUndefined();
      expect(only(cache, 'user.wallet', subject)).toBeUndefined();
      await cache.clear();
    }));

  test('is an answer or nothing, whatever its file contains, and can be replaced', async () => {
    const dir = join(folder, 'torn');
    const cache = open(dir);
    const miss = { status: 404, time: NOW, record: null } as const;
    await cache.put('user.handle', new Map([['mira', miss]]));
    const path = readdirSync(dir, { recursive: true, encoding: 'utf8' }).find((name) =>
      /\/[0-9a-f]{3}$/.test(name),
    );
    const line = answer.map(({ status, time, record }) =>
      JSON.stringify(['user.handle mira', status, time, record]),
    );
    await holdsInTime(torn(line), async (text) => {
      writeFileSync(join(dir, path ?? ''), text);
      const found = only(cache, 'user.handle', 'mira');
      if (found) expect([200, 404]).toContain(found.status);
      cache.stats();
      const next = { status: 200, time: NOW, record: 1 } as const;
      await cache.put('user.handle', new Map([['mira', next]]));
      expect(only(cache, 'user.handle', 'mira')?.record).toBe(1);
    });
  });
});

describe('the file of rate windows', () => {
  const lane = fc.record({
    calls: fc.array(fc.oneof(moment, fc.double()), { maxLength: 6 }),
    until: moment,
    seen: fc.oneof(moment, fc.double()),
    known: fc.oneof(fc.integer({ min: 1, max: 999 }), fc.constant(null)),
  });
  const dir = join(folder, 'windows');
  const open = () => new FileWindows({ dir, baseUrl: 'b', key: 'k', clock: { now: () => NOW } });

  test('contains usable windows or none', async () => {
    await open().take('key', 1);
    const path = join(dir, readdirSync(dir)[0] ?? '');
    const [[name]] = JSON.parse(readFileSync(path, 'utf8')).lanes;
    const file = fc.record({
      version: fc.constant(2),
      lanes: fc.array(fc.tuple(fc.constant(name), lane)),
    });
    await holdsInTime(jsonText(file), fc.integer({ min: 1, max: 99 }), async (text, limit) => {
      writeFileSync(path, text);
      const { waitMs } = await open().take('key', limit);
      expect(Number.isFinite(waitMs) && waitMs >= 0).toBe(true);
      expect((await open().take('key', 1)).waitMs).toBeGreaterThan(0);
    });
  });
});

describe('the position of a tail', () => {
  const at = fc.oneof(moment, fc.constant(null));
  const position = fc.record({
    feed: fc.constant('thesis'),
    start: at,
    verified: at,
    lowest: at,
    readAt: at,
    ids: fc.array(fc.tuple(word, at), { maxLength: 4 }),
    file: fc.oneof(fc.constant(undefined), fc.record({ dev: word, ino: word, offset: fc.nat() })),
  });
  test('is read as written, or rejected', () => {
    holds(position, (written) => {
      expect(readPosition(positionText(written), 'thesis')).toEqual(written);
      expect(read(() => readPosition(positionText(written), 'thesis mira'))).toBeUndefined();
    });
    holds(
      jsonText(position.map((one) => ({ form: 'trdr-position', version: 1, ...one }))),
      (text) => {
        const back = read(() => readPosition(text, 'thesis'));
        if (!back) return;
        for (const [id, time] of back.ids)
          expect([typeof id, time === null || Number.isFinite(time)]).toEqual(['string', true]);
      },
    );
  });
});

describe('the output file of a tail', () => {
  const out = join(folder, 'theses.ndjson');
  const row = fc.record({
    id: fc.string({ minLength: 1, maxLength: 4 }),
    platformCreatedAt: fc.oneof(moment, fc.constant(null)),
  });
  const start = () => {
    const reading = { out, checkpoint: undefined, feed: 'thesis', timeField: 'platformCreatedAt' };
    return readStart({ ...reading, notice() {} })?.ids.map(([id]) => id) ?? [];
  };
  const rows = fc.array(row, { maxLength: 20 });

  test('is continued after its last complete line, with every id known, or rejected', () => {
    holds(rows, torn(row.map((one) => JSON.stringify(one))), (all, last) => {
      const whole = all.map((one) => `${JSON.stringify(one)}\n`).join('');
      writeFileSync(out, whole + last.replaceAll('\n', ''));
      const ids = read(start);
      if (!ids) return;
      expect(readFileSync(out, 'utf8')).toBe(whole);
      expect(ids).toEqual(all.map(({ id }) => id));
    });
  });

  test('is read from its start if it was truncated and has grown again', () => {
    holds(rows, fc.nat({ max: 1_500 }), (all, offset) => {
      const whole = all.map((one) => `${JSON.stringify(one)}\n`).join('');
      if (offset === 0 || whole[offset - 1] === '\n') return;
      writeFileSync(out, whole);
      const { dev, ino } = statSync(out);
      const file = { dev: `${dev}`, ino: `${ino}`, offset };
      const position = { feed: 'thesis', start: null, verified: null, lowest: null, ids: [], file };
      writeFileSync(`${out}.trdr`, positionText(position));
      expect(start()).toEqual(all.map(({ id }) => id));
    });
    rmSync(`${out}.trdr`);
  });
});
