import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CommandLine, openDesk, recordsIn, wordsOf } from './harness.ts';

const NOBODY = '0x52908400098527886E0F7030069857D2E4169EE7';

/** A desk that knows nobody yet, and the id and the wallets of mira and solwolf. */
async function desk() {
  const { sandbox, home, run } = await openDesk({ plan: 'enterprise', monthlyUnits: 1e9 });
  const namesOf = (handle: string) => {
    const { id = '', solanaAddress, evmAddress } = sandbox.world.user(handle) ?? {};
    return { id, solanaAddress: `${solanaAddress}`, evmAddress: `${evmAddress}` };
  };
  return {
    ...{ sandbox, home, mira: namesOf('mira'), solwolf: namesOf('solwolf') },
    run: (words: CommandLine) => run(['pnl', ...wordsOf(words)]),
    paid: () => sandbox.meter().totalUnits,
    asked: () =>
      sandbox.log.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== 'me'),
  };
}

describe('numbers of wallets and user ids', () => {
  test('are those of their handles, found by one lookup and then the cache', async () => {
    const { mira, run, paid, asked } = await desk();
    const { exitCode, json } = await run([mira.evmAddress, '--json']);
    expect([exitCode, json()]).toMatchObject([
      0,
      { subject: mira.evmAddress, found: true, handle: 'mira' },
    ]);
    const calls = ['launchpad.user', 'user.wallet', 'user.pnl'];
    expect([asked(), paid()]).toEqual([calls, 60_010]);
    const again = await run([mira.evmAddress, 'mira', mira.id, '-o', 'ndjson']);
    expect(again.records().map(({ subject, handle }) => [subject, handle])).toEqual([
      [mira.evmAddress, 'mira'],
      ['mira', 'mira'],
      [mira.id, 'mira'],
    ]);
    expect(paid()).toBe(60_010);
  });

  test('are paid for once, however many subjects lead to a handle, also without a cache', async () => {
    const { mira, solwolf, run, paid } = await desk();
    const given = [mira.evmAddress, 'solwolf', NOBODY, 'mira', solwolf.id, 'nosuch'];
    const { records, exitCode } = await run([...given, '-y', '--no-cache']);
    expect([exitCode, records().map(({ subject }) => subject)]).toEqual([0, given]);
    expect(records().map(({ found, handle }) => (found ? handle : found))).toEqual([
      'mira',
      'solwolf',
      false,
      'mira',
      'solwolf',
      false,
    ]);
    // A wallet and an unknown wallet, each after its launchpad account, and an id; two handles with numbers, and one without.
    expect(paid()).toBe(30_010 + 210 + 100 + 2 * 30_000 + 200);
  });

  test('are priced with their lookups before anything is sent', async () => {
    const { mira, solwolf, run, asked } = await desk();
    const plan = await run([mira.evmAddress, solwolf.id, 'quiet', '--dry-run']);
    expect(plan.records().map(({ endpoint, most }) => [endpoint, most])).toEqual([
      ['launchpad.user', 10],
      ['user.handle', 400],
      ['user.wallet', 30_000],
      ['user.id', 200],
      ['users.pnl', 90_000],
    ]);
    const refused = await run([mira.evmAddress, solwolf.id, 'quiet']);
    expect([refused.exitCode, refused.error()['message'], asked()]).toEqual([
      11,
      expect.stringContaining('120,610 CU'),
      [],
    ]);
    expect((await run([mira.evmAddress, '--max-cu', '59999', '--yes'])).exitCode).toBe(6);
  });

  test('are exported with the others, and resume after a failed lookup', async () => {
    const { mira, solwolf, run, home, sandbox, paid } = await desk();
    const out = home.at('out.ndjson');
    const subjects = [mira.evmAddress, NOBODY, solwolf.solanaAddress, 'solwolf'];
    const words = [...subjects, '-y', '--out', out, '--retries', '0'];
    sandbox.faults.set('503@user.wallet+1');
    const failed = await run(words);
    expect([failed.exitCode, existsSync(`${out}.journal`)]).toEqual([9, true]);
    sandbox.faults.set('');
    expect((await run([...words, '--resume'])).exitCode).toBe(0);
    const lines = recordsIn(readFileSync(out, 'utf8'));
    expect(lines.map(({ subject, handle }) => [subject, handle])).toEqual([
      [mira.evmAddress, 'mira'],
      [NOBODY, undefined],
      [solwolf.solanaAddress, 'solwolf'],
      ['solwolf', 'solwolf'],
    ]);
    // A wallet and an unknown wallet after their launchpad accounts, a wallet through its account, and two handles.
    expect(paid()).toBe(30_010 + 210 + 110 + 2 * 30_000);
    const stored = await run([mira.solanaAddress, '--from', out, '-o', 'ndjson']);
    expect(stored.records()).toMatchObject([{ handle: 'mira' }]);
  });

  test('take the numbers that the journal has for their handle', async () => {
    const { mira, solwolf, run, home, sandbox, paid } = await desk();
    const out = home.at('out.ndjson');
    const subjects = ['solwolf', mira.id, solwolf.id];
    const words = [...subjects, '--no-cache', '-y', '--out', out, '--retries', '0'];
    sandbox.faults.set('503@user.id');
    expect((await run(words)).exitCode).toBe(9);
    expect(paid()).toBe(30_000);
    sandbox.faults.set('');
    expect((await run([...words, '--resume'])).exitCode).toBe(0);
    const records = recordsIn(readFileSync(out, 'utf8'));
    expect(records.map(({ subject, handle }) => [subject, handle])).toEqual([
      ['solwolf', 'solwolf'],
      [mira.id, 'mira'],
      [solwolf.id, 'solwolf'],
    ]);
    expect(paid()).toBe(2 * 30_000 + 2 * 100);
  });
});
