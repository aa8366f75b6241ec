import { describe, expect, it } from 'vitest';
import { openHome, type runInProcess, withSandbox } from '../e2e/harness.ts';
import { recordsOf, someHandles, withNumbers } from '../e2e/numbers.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';

type Options = Parameters<typeof runInProcess>[1];

/** Machines of a team: each has its own home, and all use the same store. */
async function team<S extends { readonly url: string; readonly key: string }>(sandbox: S) {
  const server = await startServer();
  const machine = () => {
    const home = openHome();
    return (words: readonly string[], more: Options = {}) =>
      home.run(words, { sandbox, env: { TRDR_STORE: server.url }, ...more });
  };
  return { server, machine };
}

const count = (
  sandbox: { readonly log: readonly { readonly endpoint: string | null }[] },
  endpoint: string,
) => sandbox.log.filter((call) => call.endpoint === endpoint).length;

/** A process that stands still for five seconds on a busy machine loses its claims, as it should. */
const patient = { skip: !has('redis-server'), retry: 2 };

describe('machines with the same requests at the same time', patient, () => {
  it('pay once for each handle of overlapping batches, and each machine gets all of them in order', async () => {
    const sandbox = await withNumbers({ faults: 'delay@users.pnl=300ms' });
    const { machine } = await team(sandbox);
    const handles = someHandles(160);
    const lists = [handles.slice(0, 120), handles.slice(40, 160), [...handles].reverse()];
    const runs = await Promise.all(
      lists.map((list) => machine()(['pnl', '-', '-y'], { stdin: list.join('\n') })),
    );
    for (const [at, { exitCode, records }] of runs.entries()) {
      expect([exitCode, records()]).toEqual([0, recordsOf(lists[at] ?? [])]);
    }
    expect([...sandbox.served.values()].filter((times) => times > 1)).toEqual([]);
    expect(sandbox.served.size).toBe(160);
  });

  it('make one single call for one handle', async () => {
    const sandbox = await withNumbers({ faults: 'delay@user.pnl=200ms' });
    const { machine } = await team(sandbox);
    const runs = await Promise.all([1, 2, 3, 4].map(() => machine()(['pnl', 'mira'])));
    for (const { records } of runs) expect(records()).toEqual(recordsOf(['mira']));
    expect(count(sandbox, 'user.pnl')).toBe(1);
  });

  it('request the handles that a failed machine left', async () => {
    const sandbox = await withNumbers({ faults: '503@users.pnl*1' });
    const { machine } = await team(sandbox);
    const [first, second] = [machine(), machine()];
    expect((await first(['pnl', 'mira', 'quiet', '--retries', '0'])).exitCode).toBe(9);
    expect((await second(['pnl', 'mira', 'quiet'])).records()).toEqual(
      recordsOf(['mira', 'quiet']),
    );
  });

  it('resolve a handle once, with and without an answer', async () => {
    const sandbox = await withSandbox({ plan: 'enterprise' });
    const { machine } = await team(sandbox);
    const runs = await Promise.all(
      [1, 2, 3].map(() => machine()(['resolve', 'slowpoke', '--direct'], { differs: true })),
    );
    const posts = count(sandbox, 'user.resolve');
    const wallets = runs.map(
      ({ records }) => records()[0]?.['solanaAddress'] ?? records()[0]?.['evmAddress'],
    );
    expect(new Set(wallets).size).toBe(1);
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
    const hits = runs
      .map(({ records }) => records()[0]?.['source'])
      .filter((source) => source === 'live');
    expect(hits).toHaveLength(1);
    const alone = await machine()(['resolve', 'nowallet', '--direct', '--no-wait']);
    expect(alone.records()[0]).toMatchObject({ found: false, code: 'PENDING' });
    const more = count(sandbox, 'user.resolve') - posts;
    const both = await Promise.all(
      [1, 2].map(() => machine()(['resolve', 'nowallet', '--direct', '--no-wait'])),
    );
    expect(both.map(({ exitCode }) => exitCode)).toEqual([8, 8]);
    expect(count(sandbox, 'user.resolve') - posts - more).toBeLessThan(2);
  });

  it('request the account once in 15 seconds', async () => {
    const sandbox = await withSandbox({ plan: 'enterprise' });
    const { machine } = await team(sandbox);
    const wallets = Array.from({ length: 4 }, (_, at) => `0x${String(at + 1).padStart(40, '0')}`);
    for (const run of [machine(), machine(), machine()]) {
      expect((await run(['whois', ...wallets, '--yes', '--no-cache'])).exitCode).toBe(3);
    }
    expect(count(sandbox, 'me')).toBeLessThanOrEqual(1);
  });
});
