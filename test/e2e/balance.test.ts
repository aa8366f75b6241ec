import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { RETRIES } from '../../src/contract/limits.ts';
import { type CommandLine, type Home, openHome, wordsOf } from './harness.ts';
import { numbers } from './records.ts';
import { anyMe, type Call, handlesIn, type Reply, withService } from './service.ts';

/** What `me` may answer without being able to say what is left. */
const silences: readonly (readonly [string, (call: Call) => Reply | undefined])[] = [
  ['503', () => error(503, 'OVERLOADED')],
  ['500', () => error(500, 'INTERNAL_ERROR')],
  ['403', () => error(403, 'FORBIDDEN')],
  ['404', () => error(404, 'NOT_FOUND')],
  ['429', () => error(429, 'RATE_LIMITED', { retryAfter: 100 })],
  ['HTML', () => ({ body: '<html><body>maintenance</body></html>' })],
  ['a redirect', () => ({ status: 302, body: '', headers: { location: 'https://example.com/' } })],
  ['an empty object', () => ({ body: {} })],
  ['a reset', ({ request }) => void request.socket.destroy()],
];

const error = (status: number, code: string, more: object = {}): Reply => ({
  status,
  body: { error: { code, message: 'no' }, ...more },
});

/** Waits are not what is tested, except that none is as long as a 429 asks for. */
const hasty: Clock = {
  ...systemClock,
  async sleep(ms) {
    expect(ms).toBeLessThan(60_000);
  },
};

/** A service whose `me` says nothing, and which refuses batches of more than `most` handles. */
async function withoutBalance(
  reply: (call: Call) => Reply | undefined,
  { most = 100, fails = () => true }: { most?: number; fails?: (calls: number) => boolean } = {},
) {
  const batches: number[] = [];
  let count = 0;
  const service = await withService(
    async (call) => {
      if (call.path === '/v2/me') return fails(count++) ? reply(call) : { body: anyMe };
      const handles = await handlesIn(call);
      batches.push(handles.length);
      if (handles.length > most) return error(402, 'QUOTA_EXCEEDED');
      return { body: { count: handles.length, missing: [], entries: handles.map(numbers) } };
    },
    { ownMe: true },
  );
  const env = { TRDR_BASE_URL: service.url, TRDR_API_KEY: service.key };
  const run = (words: CommandLine, home: Home = openHome(), stdin = '') =>
    home.run(['pnl', ...wordsOf(words)], { env, stdin, differs: true, clock: hasty });
  return { run, batches, asked: () => count };
}

const list = (count: number) => Array.from({ length: count }, (_, at) => `h${at}\n`).join('');

describe('without an answer about what is left', () => {
  test.each(silences)('a batch is sent if me answers %s', async (_, reply) => {
    const { run, batches } = await withoutBalance(reply);
    for (const more of [['--yes'], ['--max-cu', '1M'], [], ['--out', 'all.ndjson']]) {
      const ran = await run(['mira', 'other', ...more]);
      expect([more, ran.exitCode], ran.stderr).toEqual([more, 0]);
    }
    expect(batches).toEqual([2, 2, 2, 2]);
  });

  test('the limits of the run, a budget and the service hold the money', async () => {
    const limit = await withoutBalance(() => error(503, 'OVERLOADED'));
    const few = await limit.run(['-', '--max-cu', '90k'], openHome(), list(10));
    expect([few.exitCode, few.lines().length, limit.batches]).toEqual([6, 3, [3]]);
    const home = openHome();
    await home.run('budget set day 100k', { env: { TRDR_API_KEY: 'x' } });
    const budget = await withoutBalance(() => error(503, 'OVERLOADED'));
    const some = await budget.run(['-', '-y'], home, list(10));
    expect([some.exitCode, some.lines().length, budget.batches]).toEqual([6, 3, [3]]);
    const service = await withoutBalance(() => error(503, 'OVERLOADED'), { most: 3 });
    const none = await service.run(['-', '-y'], openHome(), list(10));
    expect([none.exitCode, none.lines().length]).toEqual([0, 10]);
    expect(Math.min(...service.batches)).toBeGreaterThan(1);
  });

  test('an export that me fails under continues, and asks seldom', async () => {
    const fails = (calls: number) => calls > 1;
    const reply = () => error(500, 'INTERNAL_ERROR');
    const { run, batches, asked } = await withoutBalance(reply, { fails });
    const ran = await run('- -y --out all.ndjson', openHome(), list(450));
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(batches).toEqual([100, 100, 100, 100, 50]);
    // Two before the outage, and one with its repetitions after the second batch.
    expect(asked()).toBe(2 + 1 + RETRIES);
  });

  test('a key that me rejects ends the run', async () => {
    const { run, batches } = await withoutBalance(() => error(401, 'UNAUTHORIZED'));
    const ran = await run('mira other');
    expect([ran.exitCode, batches]).toEqual([4, []]);
  });
});
