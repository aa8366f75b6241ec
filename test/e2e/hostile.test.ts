import { describe, expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { some } from '../repeats.ts';
import { openHome, runInProcess } from './harness.ts';
import * as valid from './records.ts';
import { anyMe, type Call, type Reply, withService } from './service.ts';

/** Hostile text: 7-bit and 8-bit escapes, direction marks, line ends, formulas. */
const hostile = [
  '\u001b[2J\u001b]0;owned\u0007',
  '\u001b]8;;http://hostile.example\u001b\\click\u001b]8;;\u001b\\',
  '\u009b31mred\u0090q\u009c',
  '\u202egnp.exe\u2066x\u2069\u200f',
  'a\r\nfound: yes\u2028b\u0085c\u000bd',
  '\u0000\u0007\b\b\b\u007f',
  '\ud800lone',
  '\u{e0041}\u{e0042}\u200b\ufeff',
  '=HYPERLINK("http://hostile.example","pay")',
].join(' ');

/** Characters that a terminal interprets or that reverse text; colors are off. */
const unsafeInJson =
  /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Surrogate}/u;
/** Characters that output for people must not contain: those above, and invisible ones. */
const unsafe = new RegExp(
  `${unsafeInJson.source}|[\\u200b\\u2060-\\u2065\\ufeff\\u{e0000}-\\u{e007f}]`,
  'u',
);

const WALLET = '1'.repeat(32);
const unknown = {
  [`x${hostile}`]: hostile,
  deep: { [hostile]: [hostile, { [hostile]: hostile }] },
  list: [hostile],
};
/** A record with hostile text in place of all texts, and in unknown fields. Ids begin with their own text, so that they differ. */
function hostileOf(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return name === 'id' ? value + hostile : hostile;
  if (Array.isArray(value)) return value.map((item) => hostileOf(item));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, inner]) => [key, hostileOf(inner, key)]);
  return { ...Object.fromEntries(members), ...unknown };
}
const of = <T extends object>(record: T, change: object = {}) => ({
  ...(hostileOf(record) as T),
  ...change,
});

const theUser = of(valid.user, { id: hostile, banner: hostile, evmAddress: hostile });
const pnl = of(valid.numbers('mira'));
const me = of({ ...anyMe, account: { name: '', id: '' } }, { scopes: [hostile, 'identity:read'] });

/** Answers a call of any endpoint with hostile text. */
function answer({ method, path }: Call): Reply {
  if (path === '/v2/me') return { body: me };
  if (path === '/openapi.json')
    return {
      body: {
        openapi: '3.1.0',
        info: { version: hostile },
        paths: { [hostile]: { get: {} }, '/v2/me': unknown },
      },
    };
  if (path.endsWith('/resolve')) {
    return {
      status: 202,
      body: of(valid.pending, { retryable: false, retryAfterSeconds: 1 }),
    };
  }
  if (method === 'POST')
    return {
      body: of(valid.batch(), {
        missing: ['juno', hostile],
        entries: [{ ...pnl, handle: 'mira' }, pnl],
      }),
    };
  if (path.endsWith('/pnl')) return { body: pnl };
  if (path.endsWith('/author')) return { body: { ...theUser, id: valid.USER_ID } };
  if (path.startsWith('/v2/user/'))
    return {
      body: {
        ...theUser,
        solanaAddress: path.includes('noone') ? null : hostile,
        evmAddress: null,
      },
    };
  if (path.startsWith('/v2/launchpad/user')) return { body: of(valid.launchpadUser) };
  if (path.startsWith('/v2/launchpad/thesis'))
    return { body: of(valid.page([valid.callout(1), valid.callout(2)])) };
  if (path.startsWith('/v2/launchpad/leaderboard')) {
    const at = path.includes('at=') ? 1 : 2;
    const entries = valid.board().entries.map((entry) => ({
      ...of(entry),
      wallet: `${entry.rank + at}${hostile}`,
    }));
    return { body: of(valid.board(), { capturedAt: at, entries }) };
  }
  return { body: of(valid.page([valid.thesis(1), valid.thesis(2)])) };
}

/** The text around the first unsafe character; null if there is none. */
function positionOf(text: string, what = unsafe): string | null {
  const found = what.exec(text);
  return found && JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 40));
}

const commands: readonly (readonly string[])[] = [
  ['whois', 'mira'],
  ['whois', 'mira', 'juno'],
  ['whois', 'mira', '--fields', 'subject,name,socials'],
  ['resolve', 'mira'],
  ['resolve', 'noone'],
  ['resolve', 'noone', 'noone_else'],
  ['pnl', 'mira'],
  ['pnl', 'mira', 'juno', '--yes'],
  ['thesis', 'list'],
  ['thesis', 'list', '--user', 'author'],
  ['launchpad', 'user', WALLET],
  ['launchpad', 'user', WALLET, 'So11111111111111111111111111111111111111112'],
  ['launchpad', 'callouts'],
  ['launchpad', 'board'],
  ['launchpad', 'board', '--compare', '7d'],
  ['me'],
  ['doctor'],
  ['api', '/v2/me'],
  ['api', '/v2/me', '-i'],
  ['api', '/v2/thesis', '--paginate', '--yes'],
  ['auth', 'status', '--check'],
];
const formats = ['table', 'ndjson', 'json', 'csv', 'tsv', 'markdown'] as const;
const headers = { 'x-request-id': 'r\u009b31m', 'x-hostile': '\u009b2J' };

/** The other formats escape in the same way for every command. */
const escaping = ['whois mira juno', 'pnl mira juno --yes', 'thesis list', 'launchpad board'];

describe.each(some(commands, 4).map((words) => ({ line: words.join(' '), words })))(
  'trdr $line',
  ({ line, words }) => {
    test.each(formats.filter((format) => format === 'table' || escaping.includes(line)))(
      'prints no active characters on a terminal: %s',
      async (format) => {
        const service = await withService((call) => ({ ...answer(call), headers }), {
          ownMe: true,
        });
        // Only tables depend on the width of the terminal.
        for (const columns of format === 'table' ? [40, 80, 200] : [80]) {
          const takes = words[0] !== 'api';
          const ran = await runInProcess([...words, ...(takes ? ['-o', format] : []), '--debug'], {
            sandbox: service,
            tty: true,
            columns,
            env: { NO_COLOR: '1', LANG: 'C.UTF-8' },
            clock: virtualClock(1_700_000_000_000),
          });
          expect(ran.stdout.length + ran.stderr.length).toBeGreaterThan(0);
          const shown = format === 'tsv' ? ran.stdout.replaceAll('\t', ' ') : ran.stdout;
          for (const text of [shown, ran.stderr]) {
            const looked =
              format === 'ndjson' || format === 'json' || words[0] === 'api'
                ? unsafeInJson
                : unsafe;
            expect(positionOf(text, text === shown ? looked : unsafeInJson)).toBe(null);
          }
          expect(ran.exitCode, ran.stderr).not.toBe(1);
        }
      },
    );

    if (words[0] !== 'api')
      test('prints no active formulas', async () => {
        const service = await withService(
          (call) => {
            const reply = answer(call);
            const text = JSON.stringify(reply.body).replaceAll(
              JSON.stringify(hostile).slice(1, -1),
              '=cmd|calc',
            );
            return { ...reply, body: JSON.parse(text) };
          },
          { ownMe: true },
        );
        const home = openHome();
        const ran = await home.run([...words, '-o', 'csv'], {
          sandbox: service,
          clock: virtualClock(1_700_000_000_000),
        });
        expect(ran.exitCode, ran.stderr).not.toBe(1);
        home.write('out.csv', ran.stdout);
        for (const cell of cellsOf(ran.stdout))
          expect(cell).not.toMatch(/^[\s\u00a0]*[=+@\t\r|%]|^-[^\d.]/);
      });

    const isOwnRecord =
      ['api', 'auth', 'doctor'].includes(words[0] ?? '') || words.includes('--fields');

    if (!isOwnRecord)
      test('passes everything unchanged to a program', async () => {
        const service = await withService(answer, { ownMe: true });
        const ran = await runInProcess([...words, '-o', 'ndjson'], {
          // The schema of `me` rejects a hostile period.
          differs: words[0] === 'me',
          sandbox: service,
          clock: virtualClock(1_700_000_000_000),
        });
        expect(ran.exitCode, ran.stderr).not.toBe(9);
        for (const line of ran.lines()) expect(unsafeInJson.exec(line)).toBe(null);
        const known = JSON.stringify(ran.records());
        // Only the beginning is compared, because the service may replace the unpaired surrogate in the hostile
        // text.
        if (!words.includes('noone')) expect(known).toContain(JSON.stringify(hostile).slice(1, 40));
      });
  },
);

/** The cells of a CSV text. */
function cellsOf(text: string): string[] {
  return [...text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(?:,|\n)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

describe('an error response', () => {
  const error = { code: hostile, message: hostile, retryAfter: 3 };
  const statuses = [400, 401, 402, 403, 404, 409, 418, 429, 500, 503, 504];
  // Errors are printed in one place, so each status and each command is a case of its own.
  test.each<[status: number, words: string]>([
    ...some(statuses, 5).map((status): [number, string] => [status, 'whois mira']),
    ...['whois a b c', 'thesis list', 'resolve mira --direct', 'me'].map(
      (words): [number, string] => [404, words],
    ),
    [500, 'whois a b c'],
  ])('is shown without active characters: %i to %s', async (status, words) => {
    const service = await withService(
      () => ({
        status,
        body: { error, meta: { requestId: hostile }, ...unknown },
        headers: { ...headers, location: `http://hostile.example/${'\u009b31m'}` },
      }),
      { ownMe: true },
    );
    for (const tty of [true, false]) {
      const ran = await runInProcess([...words.split(' '), '--debug'], {
        sandbox: service,
        tty,
        env: { NO_COLOR: '1', LANG: 'C.UTF-8' },
        clock: virtualClock(),
      });
      for (const text of [ran.stdout, ran.stderr])
        expect(positionOf(text, unsafeInJson)).toBe(null);
      expect([1, 0]).not.toContain(ran.exitCode);
    }
  });
});

describe("the user's input", () => {
  test.each([
    [['whois', hostile]],
    [['whois', '@\u001b[31mred']],
    [['whois', 'mira', '--fields', hostile]],
    [['whois', 'mira', '-o', '\u001b[31m']],
    [['\u001b]0;owned\u0007']],
    [['whois', '--file', '\u001b[2J/none']],
    [['whois', 'mira', '--profile', '\u202eevil']],
    [['thesis', 'list', '--token', '\u009b31m']],
    [['thesis', 'list', '--since', '\u001b[2J']],
    [['api', '/v2/\u001b[2J']],
    [['whois', `--${'\u001b[2J'}`]],
    [['config', 'get', '\u001b[2J']],
    [['price', '\u001b[2J']],
    [['schema', '\u001b[2J']],
    [['completion', '\u001b[2J']],
    [['sandbox', '--faults', '\u001b[2J']],
  ])('is repeated without active characters: %j', async (words) => {
    const service = await withService(answer);
    for (const tty of [true, false]) {
      const ran = await runInProcess(words, {
        sandbox: service,
        tty,
        env: { NO_COLOR: '1', LANG: 'C.UTF-8' },
      });
      for (const text of [ran.stdout, ran.stderr]) {
        expect(positionOf(text, unsafeInJson)).toBe(null);
      }
      expect(ran.exitCode).not.toBe(1);
    }
  });
});
