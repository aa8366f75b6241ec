import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDesk } from './harness.ts';

/** A sandbox with an earlier output of four traders, of whom two have another X name and no wallet in it. */
async function withEarlier(format: string) {
  const { sandbox, home } = await openDesk();
  const old = home.at(`old.${format}`);
  const wallet = sandbox.world.user('quantumhawk')?.solanaAddress ?? '';
  const run = (...words: string[]) => home.run(['whois', ...words], { sandbox });
  const subjects = ['mira', 'solwolf', wallet, 'nosuch', '0xMert'];
  await run(...subjects, '--direct', '--out', old);
  const text = readFileSync(old, 'utf8');
  writeFileSync(old, text.replace('https://x.com/solwolf', 'https://x.com/lone_wolf'));
  sandbox.world.rename(sandbox.world.user('mira')?.id ?? '', 'mira_two');
  const spent = () => sandbox.meter().totalUnits;
  return { sandbox, home, old, run, spent, subjects };
}

describe('whois --compare', () => {
  test.each(['ndjson', 'json', 'csv', 'tsv'])('reads a %s file again by ids', async (format) => {
    const { sandbox, old, run, spent, subjects } = await withEarlier(format);
    const before = spent();
    const calls = sandbox.log.length;
    const ran = await run('--compare', old, '--no-cache');
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records().map(({ subject, change }) => [subject, change])).toEqual([
      [subjects[0], 'changed'],
      [subjects[1], 'changed'],
      [subjects[2], 'same'],
      [subjects[3], 'same'],
      [subjects[4], 'same'],
    ]);
    expect(ran.records().map(({ changes }) => changes)).toEqual([
      { handle: { was: 'mira', now: 'mira_two' } },
      { twitter: { was: 'https://x.com/lone_wolf', now: 'https://x.com/solwolf' } },
      {},
      undefined,
      {},
    ]);
    // A handle that is still not found costs 200 CU.
    expect(spent() - before).toBe(4 * 100 + 200);
    const endpoints = sandbox.log.slice(calls).map(({ endpoint }) => endpoint);
    const paid = endpoints.filter((endpoint) => endpoint !== 'me').toSorted();
    expect(paid).toEqual(['user.handle', ...Array(4).fill('user.id')]);
  });

  test('prints only what changed, as a list, a table and a card', async () => {
    const { home, old, sandbox, run } = await withEarlier('ndjson');
    const changed = await run('--compare', old, '--changed', '--max-age', '1ms', '--json');
    expect(changed.json()).toMatchObject([{ handle: 'mira_two' }, { handle: 'solwolf' }]);
    expect(changed.stderr).toBe('');
    home.write('part.json', changed.stdout);
    const part = await run('--compare', home.at('part.json'));
    expect(part.stderr).toContain('part.json has only what had changed');
    const words = ['whois', '--compare', old, '--changed', '-o', 'table', '--color', 'never'];
    const table = await home.run(words, { sandbox, tty: true, columns: 120 });
    expect(table.stdout).toMatch(/mira +changed +@mira_two .* @mira\b/);
    expect(table.stdout).toMatch(/solwolf +changed +@solwolf .* X @lone_wolf/);
    expect(table.stdout).not.toContain('0xMert');
    expect(table.said).toContain('1 renamed, 0 other wallets, 1 other X, 0 new, 0 out');
    const card = await run('mira', '--compare', old, '-o', 'table');
    expect(card.stdout).toMatch(/^@mira_two\n +change +changed\n +before +@mira\n/);
    const csv = await run('--compare', old, '--changed', '-o', 'csv', '--fields', 'brief');
    expect(csv.lines()[0]).toMatch(/,change,changes\.handle\.was,/);
  });

  test('reads again who was read a moment ago, or says since when the answers are', async () => {
    const { home, old, sandbox, run, spent } = await withEarlier('ndjson');
    const before = spent();
    const words = ['whois', '--compare', old];
    const read = await home.run(words, { sandbox, tty: { stderr: true } });
    expect(read.records()[0]).toMatchObject({ handle: 'mira_two', change: 'changed' });
    expect(read.said).toMatch(/1 renamed, .* 0 out trdr: /);
    expect(spent() - before).toBe(4 * 100 + 200);
    sandbox.world.rename(sandbox.world.user('mira_two')?.id ?? '', 'mira_three');
    const kept = await home.run([...words, '--max-age', '1h'], { sandbox, tty: { stderr: true } });
    expect(kept.records()[0]).toMatchObject({ handle: 'mira_two' });
    expect(kept.said).toMatch(/0 out, by answers that were read since \d{4}-/);
    expect(spent() - before).toBe(4 * 100 + 200);
    expect((await run('--compare', old)).records()[0]).toMatchObject({ handle: 'mira_three' });
  });

  test('finds who is new and who is gone, and never makes the dear call for a wallet', async () => {
    const { home, run, spent, sandbox } = await withEarlier('ndjson');
    const gone = { subject: 'gone', found: true, id: '7d0a0f3e-7a55-4c0e-9a36-6f0f5f0e8f10' };
    const missed = { subject: 'mira_two', found: false, code: 'NOT_OBSERVED' };
    const failed = { subject: 'tokyo', found: null, error: { code: 'TIMEOUT', message: 'late' } };
    const file = home.write('list.ndjson', [gone, missed, failed]);
    const before = spent();
    const wallet = sandbox.world.user('0xMert')?.evmAddress ?? '';
    const words = ['gone', 'mira_two', 'solwolf', 'tokyo', wallet, '--compare', file, '--no-cache'];
    const ran = await run(...words);
    expect(ran.records().map(({ found, change }) => [found, change])).toEqual([
      [false, 'left'],
      [true, 'new'],
      [true, 'new'],
      [true, null],
      [null, null],
    ]);
    expect(spent() - before).toBeLessThan(1_000);
  });

  test.each([
    ['the handle that another user of the file has now', 'swap'],
    ['a wallet that two users of the file had', 'wallet'],
    ['a subject that was not found then, of a user of the file', 'missed'],
  ])('compares each user with the record of the same id: %s', async (_, kind) => {
    const { home, run, sandbox } = await withEarlier('ndjson');
    const [one, two] = ['solwolf', '0xMert'].map((handle) => sandbox.world.user(handle));
    if (!one || !two) throw new Error('the sandbox has these traders');
    // Of the wallet of both, the file names the other user first.
    const wallet = one.solanaAddress;
    const earlier = [
      { ...two, subject: 'first', solanaAddress: kind === 'wallet' ? wallet : two.solanaAddress },
      { ...one, subject: 'second', handle: kind === 'swap' ? two.handle : 'was_solwolf' },
      ...(kind === 'missed' ? [{ subject: 'solwolf', found: false, code: 'NOT_OBSERVED' }] : []),
    ].map((each) => ({ found: true, ...each }));
    const file = home.write('earlier.ndjson', earlier);
    const subject = { swap: '0xMert', wallet: String(wallet), missed: 'solwolf' }[kind] ?? '';
    await home.run(['whois', one.handle, two.handle], { sandbox });
    const [row] = (await run(subject, '--compare', file, '--max-age', '1h')).records();
    const isOne = kind !== 'swap';
    expect(row).toMatchObject({ id: isOne ? one.id : two.id });
    expect(row?.['changes']).toEqual(
      isOne ? { handle: { was: 'was_solwolf', now: 'solwolf' } } : {},
    );
  });

  test('counts a renamed user once, and one who was found by the new handle not as new', async () => {
    const { home, sandbox } = await withEarlier('ndjson');
    const id = sandbox.world.user('mira_two')?.id;
    const file = home.at('two.ndjson');
    const lines = [
      { subject: 'mira', found: true, id, handle: 'mira' },
      { subject: 'mira_two', found: false, code: 'NOT_OBSERVED' },
    ];
    writeFileSync(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const ran = await home.run(['whois', '--compare', file], { sandbox, tty: { stderr: true } });
    expect(ran.said).toContain('1 renamed, 0 other wallets, 0 other X, 0 new, 0 out');
    expect(ran.records().map(({ change }) => change)).toEqual(['changed', 'changed']);
  });

  test('states the calls and asks for nothing dear before it is sent', async () => {
    const { old, run, spent } = await withEarlier('ndjson');
    const before = spent();
    const plan = await run('--compare', old, '--no-cache', '--dry-run');
    expect(plan.records().map(({ endpoint }) => endpoint)).toEqual([
      'user.id',
      'user.id',
      'user.id',
      'user.handle',
      'user.id',
    ]);
    for (const words of [
      ['--compare', old, '--direct'],
      ['mira', '--changed'],
      ['-', '--compare', '-'],
    ])
      expect((await run(...words)).exitCode).toBe(2);
    expect(spent()).toBe(before);
  });
});
