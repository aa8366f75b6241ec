import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isSoak } from '../repeats.ts';
import { startServer } from '../store/server.ts';
import { has } from '../tools.ts';
import { deskOf, openDesk, openHome } from './harness.ts';
import { numbers, WALLET } from './records.ts';
import { withService } from './service.ts';

/** Some of whom have a wallet on record. */
const people = ['mira', 'solwolf', '0xMert', 'quiet', 'juno', 'theo', 'nosuchuser'];

/** A 202 comes before the answer, so these wait for seconds. */
const slow: [fault: string, words: string, isLost: boolean][] = [
  ['lost@user.resolve+1*1', 'resolve slowpoke --direct', true],
  ['OVERLOADED@user.resolve+1*1', 'resolve slowpoke', false],
];

/** A desk, and the receipt of each run. */
async function openReveals(options: Parameters<typeof openDesk>[0] = {}) {
  const desk = await openDesk(options);
  const pay = async (...words: string[]) => {
    const ran = await desk.run([...words, '--receipt', '-', '-q']);
    const lines = ran.stderr.trim().split('\n');
    const receipt = JSON.parse(lines.at(-1) ?? '{}');
    return { ...ran, receipt };
  };
  return { ...desk, pay, used: () => desk.sandbox.meter().totalReveals };
}

describe('wallet reveals', () => {
  test('are counted in receipts and usage as the service counts them, and stated before', async () => {
    const { run, pay, used } = await openReveals();
    const found = await run('whois mira --no-cache -q');
    const wallet = String(found.records()[0]?.['solanaAddress']);
    const lines = [
      ['whois', ...people],
      ['whois', 'mira'],
      ['whois', 'mira', '--no-cache'],
      ['resolve', 'theo', '--yes'],
      ['pnl', ...people, '--yes'],
      ['pnl', 'mira', '--no-cache', '--yes'],
      ['launchpad', 'callers', '--board', 'weekly', '--top', '3'],
      ['whois', wallet, '--direct', '--no-cache', '--yes'],
    ];
    let sum = used();
    for (const words of lines) {
      const plan = (await run([...words, '--dry-run'])).records();
      const most = plan.reduce((all, { reveals }) => all + Number(reveals ?? 0), 0);
      const before = used();
      const { receipt } = await pay(...words);
      expect([words, receipt.reveals]).toEqual([words, used() - before]);
      expect(receipt.revealsAtMost).toBe(receipt.reveals);
      expect(receipt.reveals).toBeLessThanOrEqual(most);
      sum += receipt.reveals;
    }
    expect(sum).toBeGreaterThan(4);
    const rows = (await run('usage --by command')).records();
    expect(rows.reduce((all, { reveals }) => all + Number(reveals), 0)).toBe(sum);
    const table = await run('usage -o table --color never');
    expect(table.stdout.split('\n')[0]).toMatch(/CU +reveals$/);
  });

  test('of lost answers are an upper bound', async () => {
    const { pay, run } = await openReveals({ faults: 'lost@user.handle=100%' });
    const { receipt } = await pay('whois', 'mira', '--retries', '0');
    expect([receipt.reveals, receipt.revealsAtMost]).toEqual([0, 1]);
    expect((await run('usage')).records()).toMatchObject([{ reveals: 0, revealsAtMost: 1 }]);
  });

  test.each([
    [null, [0, 1]],
    [WALLET, [1, 1]],
  ])(
    'of handles that a batch leaves out are an upper bound, beside a wallet %s',
    async (wallet, bounds) => {
      const entries = [{ ...numbers('mira'), wallet }];
      const { run } = deskOf(
        await withService(() => ({ body: { count: 1, missing: [], entries } })),
      );
      const ran = await run('pnl mira sol -y -q --receipt -');
      const { reveals, revealsAtMost } = JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '{}');
      expect([reveals, revealsAtMost]).toEqual(bounds);
      const [{ reveals: sure, revealsAtMost: most = sure } = {}] = (await run('usage')).records();
      expect([sure, most]).toEqual(bounds);
    },
  );

  test.each<[fault: string, words: string, isLost: boolean]>([
    ['lost@user.resolve*1', 'resolve mira juno --direct', true],
    ['OVERLOADED@user.resolve*1', 'resolve mira juno --direct', false],
    ['cut@user.pnl*1', 'pnl mira', true],
    ['504@users.pnl*1', 'pnl mira juno', false],
    ['html@users.pnl*1', 'pnl mira juno', true],
    ...(isSoak ? slow : []),
  ])('with %s agree in meter, receipt, usage and budget: %s', async (faults, words, isLost) => {
    const { run, pay, sandbox } = await openReveals({ faults });
    await run('budget set day 9 --reveals');
    const { receipt } = await pay(...words.split(' '), '--yes');
    const { totalReveals, totalUnits } = sandbox.meter();
    const bounds = [totalReveals, totalUnits];
    const known = [receipt.reveals, receipt.cu];
    const most = [receipt.revealsAtMost, receipt.cuAtMost];
    for (const [at, spent] of bounds.entries()) {
      expect(known[at]).toBeLessThanOrEqual(spent);
      expect(most[at]).toBeGreaterThanOrEqual(spent);
    }
    expect([known[0] < totalReveals, most[0] > known[0]]).toEqual([isLost, isLost]);
    const [row = {}] = (await run('usage')).records();
    const { reveals, revealsAtMost = reveals, cu, cuAtMost = cu } = row;
    expect([reveals, revealsAtMost, cu, cuAtMost]).toEqual([known[0], most[0], known[1], most[1]]);
    const budgets = (await run('budget show')).records();
    expect(budgets.find(({ name }) => name === 'day reveals')?.['left']).toBe(9 - most[0]);
  });

  test.each([
    [0, ['whois', ...people]],
    [2, ['whois', ...people]],
    [3, ['pnl', ...people, '--yes']],
    [1, ['resolve', ...people, '--yes']],
    [1, ['api', '/v2/user/handle/mira']],
    [0, ['api', '/v2/user/handle/mira']],
  ])('stay within --max-reveals %i: %j', async (limit, words) => {
    const { pay, used } = await openReveals();
    const free = await openReveals();
    await free.pay(...words);
    const ran = await pay(...words, '--max-reveals', String(limit));
    // What may reveal another wallet is not sent, even if it would not have revealed one.
    expect(used()).toBe(Math.min(limit, free.used()));
    expect([0, 6]).toContain(ran.exitCode);
    if (free.used() > limit) expect(ran.exitCode).toBe(6);
    if (ran.exitCode === 6) expect(ran.stderr).toContain('raise --max-reveals');
  });

  test('a call of unknown price is not sent under a limit', async () => {
    const { pay } = await openReveals();
    expect((await pay('api', '/v2/unheard', '--yes', '--max-reveals', '1')).exitCode).toBe(6);
  });

  test('stay within a budget, over runs at the same time', async () => {
    const { run, pay, used } = await openReveals();
    expect((await run('budget set day 3 --reveals')).exitCode).toBe(0);
    const runs = await Promise.all(people.map((name) => pay('whois', name)));
    expect(used()).toBeLessThanOrEqual(3);
    for (const name of people) await pay('whois', name);
    expect(used()).toBe(3);
    const refused = runs.filter(({ exitCode }) => exitCode === 6);
    expect(refused.length).toBeGreaterThan(0);
    for (const { stderr } of refused)
      expect(stderr).toMatch(
        /only \d wallet reveals? of the day budget of wallet reveals .* remain/,
      );
    expect((await run('budget show')).records()).toMatchObject([
      { name: 'day', limit: null },
      { name: 'month', limit: null },
      { name: 'day reveals', measure: 'reveals', limit: 3, left: 0, spent: 3 },
    ]);
    const free = await pay('launchpad', 'callers', '--board', 'weekly', '--top', '1');
    expect(free.exitCode, free.stderr).toBe(0);
    expect((await pay('pnl', ...people, '--yes')).exitCode).toBe(6);
    expect((await run('budget unset day --reveals')).exitCode).toBe(0);
    expect((await pay('whois', 'mira', '--no-cache')).exitCode).toBe(0);
  });

  test('are unknown in entries of earlier versions', async () => {
    const { home, run } = await openDesk();
    const folder = home.at('state', 'ledger');
    mkdirSync(folder, { recursive: true });
    const day = new Date().toISOString().slice(0, 10);
    const old = { time: Date.now(), command: 'whois', profile: 'default', endpoint: 'user.handle' };
    appendFileSync(
      join(folder, `${day}.ndjson`),
      `${JSON.stringify({ ...old, status: 200, cu: 100 })}\n`,
    );
    expect((await run('usage')).records()).toEqual([{ command: 'whois', calls: 1, cu: 100 }]);
  });

  test.skipIf(!has('redis-server'))('have a budget that machines share', async () => {
    const { sandbox } = await openDesk();
    const env = { TRDR_STORE: (await startServer()).url };
    const homes = [openHome(), openHome()];
    const run = (at: number, ...words: string[]) => homes[at % 2]?.run(words, { sandbox, env });
    expect((await run(0, 'budget', 'set', 'day', '2', '--reveals'))?.said).toMatch(
      /Set the day budget of wallet reveals of all machines to 2(?! wallet)/,
    );
    const codes: unknown[] = [];
    for (const [at, name] of ['mira', 'tokyo', 'solwolf'].entries())
      codes.push((await run(at, 'whois', name))?.exitCode);
    expect([codes, sandbox.meter().totalReveals]).toEqual([[0, 0, 6], 2]);
    const shown = (await run(1, 'budget', 'show'))?.records();
    expect(shown).toContainEqual(
      expect.objectContaining({ name: 'day reveals', measure: 'reveals', left: 0, spent: 2 }),
    );
    expect((await run(1, 'budget', 'unset', 'day', '--reveals'))?.exitCode).toBe(0);
    expect((await run(0, 'whois', 'solwolf'))?.exitCode).toBe(0);
  });
});
