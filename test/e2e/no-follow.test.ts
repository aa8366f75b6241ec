import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { repeats, SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { asItShouldBe, compare, idsOf, readText } from './feed.ts';
import { openDesk, openHome, runInProcess, startTrdr, withSandbox } from './harness.ts';
import { withService } from './service.ts';

const RUNS = repeats('NO_FOLLOW_RUNS', 2, 20);
const plenty = { unmetered: true, ratePerMinute: 600_000, burstPerSecond: 600_000 } as const;

describe('--no-follow', () => {
  test.each(['--out', '--checkpoint'])(
    `with %s, runs one after another deliver each post once, although some are killed (SEED=${SEED})`,
    async (flag) => {
      const dice = rngOf(SEED);
      const { sandbox, home } = await openDesk(plenty);
      const file = home.at('theses.ndjson');
      const words = ['thesis', 'tail', '--no-follow', flag, file, '-o', 'ndjson', '-q'];
      const options = { sandbox, home };
      const printed: string[] = [];
      const posted: string[] = [];
      expect((await runInProcess(words, options)).stdout).toBe('');
      for (let run = 0; run < RUNS; run++) {
        for (let each = dice.int(60); each > 0; each--) posted.push(sandbox.post().id);
        if (flag === '--out' && dice.chance(0.5)) {
          const child = startTrdr(words, options);
          setTimeout(() => child.kill('SIGKILL'), dice.int(400));
          await child;
        }
        const ran = await runInProcess(words, options);
        expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
        printed.push(...ran.records().map(({ id }) => String(id)));
        const got = flag === '--out' ? idsOf(readText(file)) : printed;
        expect(compare(posted, got)).toEqual(asItShouldBe);
      }
    },
  );

  test('says which spending limit would reach the older posts, which then does', async () => {
    const { sandbox, home } = await openDesk({ ...plenty, theses: 500 });
    const out = home.at('theses.ndjson');
    const words = ['thesis', 'tail', '--no-follow', '--since', '60d', '--out', out];
    const run = (limit: string) => runInProcess([...words, '--max-cu', limit], { sandbox, home });
    const needed: string[] = [];
    for (let tries = 0; tries < 2; tries++) {
      const ran = await run('900');
      expect(ran.exitCode).toBe(6);
      expect(ran.stderr).toMatch(
        /were not all read: .*; the next run reads them with --max-cu \d+/,
      );
      needed.push(/newest ones first: --max-cu (\d+)/.exec(ran.stderr)?.[1] ?? '');
    }
    expect((await run(needed[1] ?? '')).exitCode).toBe(0);
    expect(idsOf(readText(out)).length).toBeGreaterThan(200);
  });

  test('prints callouts, ends at --count, and reads the pages only once', async () => {
    const { sandbox, run } = await openDesk(plenty);
    const words = ['launchpad', 'tail', '--no-follow', '--since', '30d', '--yes'];
    const all = await run(words);
    const pages = sandbox.log.length;
    const listed = await run('launchpad callouts --since 30d --yes');
    expect(all.exitCode).toBe(0);
    expect(all.records().map(({ id }) => id)).toEqual(
      listed
        .records()
        .map(({ id }) => id)
        .reverse(),
    );
    const some = await run([...words, '--count', '3']);
    expect(some.records()).toEqual(all.records().slice(0, 3));
    expect(pages).toBeLessThanOrEqual(sandbox.log.length / 3 + 2);
  });

  test('hands everything to a slow command before it ends', async () => {
    const sandbox = await withSandbox(plenty);
    const exec = ['--exec', 'sleep 0.1; wc -l', '--batch', '10'];
    const words = ['thesis', 'tail', '--no-follow', '--backfill', '35', ...exec];
    const home = openHome();
    const child = startTrdr(words, { sandbox, home });
    const { exitCode, stdout } = await child;
    expect([exitCode, stdout.trim().split(/\s+/)]).toEqual([0, [...Array(3).fill('10'), '5']]);
  });

  test('exits 9 after a gap, and if the service cannot be reached', async () => {
    const posts = Array.from({ length: 20 }, (_, at) => ({
      id: `p${at}`,
      platformCreatedAt: Date.now() - at,
    }));
    const service = await withService(({ path }) => ({
      body: { items: path.includes('before=') ? [] : posts, hasMore: true },
    }));
    const run = (sandbox: { readonly url: string; readonly key: string }) =>
      runInProcess('thesis tail --no-follow --since 1h -o ndjson', {
        ...{ sandbox, differs: true, clock: virtualClock(systemClock.now()) },
      });
    const gap = await run(service);
    expect([gap.exitCode, gap.records().length], gap.stderr).toEqual([9, 20]);
    expect(gap.stderr).toContain('GAP: posts may be missing');
    const away = await run({ url: 'http://127.0.0.1:1', key: service.key });
    expect([away.exitCode, away.error()['code']]).toEqual([9, 'UNREACHABLE']);
  });
});
