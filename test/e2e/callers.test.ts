import { describe, expect, test } from 'vitest';
import { listOf } from '../../src/contract/read-record.ts';
import { ahead, openDesk, runInProcess } from './harness.ts';
import { withService } from './service.ts';

type Row = Readonly<Record<string, unknown>>;

/** The middle of numbers, as no code of the program computes it. */
function middle(numbers: readonly number[]): number | null {
  if (numbers.length < 5) return null;
  const rest = numbers.toSorted((one, other) => one - other);
  while (rest.length > 2) rest.splice(0, 1, ...rest.splice(-1).slice(1));
  return rest.reduce((sum, each) => sum + each, 0) / rest.length;
}

const multiplesOf = (calls: readonly Row[]) =>
  calls.map(({ multiple }) => multiple).filter((each) => typeof each === 'number');

describe('trdr launchpad callers', () => {
  test('sums up the callouts of the leaders for the price that it states', async () => {
    const { sandbox, run } = await openDesk();
    const words = ['launchpad', 'callers', '--board', 'weekly'];
    const plan = (await run([...words, '--dry-run'])).records();
    expect(plan.map(({ least, most, times }) => [least, most, times])).toEqual([
      [10, 10, undefined],
      [0, 200, 20],
    ]);
    const ran = await run(words);
    expect(sandbox.meter().totalUnits).toBe(210);
    const leaders = (await run('launchpad board --top 20')).records();
    const callers = ran.records();
    expect(callers.map(({ rank, wallet }) => [rank, wallet])).toEqual(
      leaders.map(({ rank, wallet }) => [rank, wallet]),
    );
    const all = (await run('launchpad callouts --all --yes')).records();
    for (const caller of callers) {
      const calls = all.filter(({ wallet }) => wallet === caller['wallet']).slice(0, 25);
      const multiples = multiplesOf(calls);
      const median = middle(multiples);
      expect(caller).toMatchObject({ calls: calls.length, priced: multiples.length });
      if (median === null) expect(caller['medianMultiple']).toBeNull();
      else expect(caller['medianMultiple']).toBeCloseTo(median, 9);
      expect(caller['atLeast2x']).toBe(
        multiples.length === 0 ? null : multiples.filter((each) => each >= 2).length,
      );
    }
    expect(callers.some(({ calls }) => calls === 0)).toBe(true);
    expect(callers.some(({ medianMultiple }) => medianMultiple !== null)).toBe(true);
    const list = (await run([...words, '--calls', '--fields', 'id'])).records();
    expect(list).toHaveLength(callers.reduce((sum, { calls }) => sum + Number(calls), 0));
    const table = await run([...words, '-o', 'table', '--color', 'never'], {
      tty: { stdout: true },
      columns: 160,
      env: { LANG: 'C.UTF-8' },
    });
    expect(table.stdout.split('\n')[0]).toMatch(/#.*caller.*calls.*now.*at 2x\+.*hindsight/);
    const few = callers.filter(({ multiples }) => Array.isArray(multiples));
    expect(few.length).toBeGreaterThan(0);
    for (const { rank, multiples } of few) {
      const line = table.lines().find((each) => Number.parseInt(each, 10) === rank) ?? '';
      const shown = line.match(/[\d.]+×/g) ?? [];
      expect(shown.slice(0, listOf(multiples).length)).toEqual(
        listOf(multiples).map((each) => `${Number(each).toFixed(1)}×`),
      );
    }
  });

  test('reads wallets, handles and files, and says who is unknown', async () => {
    const { sandbox, run } = await openDesk();
    const stranger = '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6';
    const words = ['launchpad', 'callers', '-', 'nosuchuser', 'nowallet'];
    const stdin = `mira\n${stranger}\n`;
    const ran = await run(words, { stdin });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records()).toMatchObject([
      { subject: 'mira', found: true, complete: true },
      { subject: stranger, found: true, calls: 0, medianMultiple: null, atLeast2x: null },
      { subject: 'nosuchuser', found: false },
      { subject: 'nowallet', found: false, code: 'NO_WALLET' },
    ]);
    expect(sandbox.meter().totalUnits).toBe(100 + 10 + 10 + 200 + 100);
    const terminal = { tty: true, columns: 80, env: { LANG: 'C.UTF-8', NO_COLOR: '1' } };
    const table = await run(words, { stdin, ...terminal, tty: { stdout: true } });
    const cells = table.lines().map((line) => line.split(/ {2,}/).slice(0, 2).join());
    expect(cells.slice(3, 6)).toEqual([
      '8BnE…XTh6,0',
      'nosuchuser,not found',
      'nowallet,no wallet',
    ]);
    const { said } = await run([...words, '--calls'], { stdin });
    expect([said, said]).toEqual([
      expect.stringContaining('no wallet: nowallet'),
      expect.stringContaining('not found: nosuchuser'),
    ]);
    const strict = await run([...words, '--strict'], { stdin: 'mira\n' });
    expect(strict.exitCode).toBe(10);
    const single = await run(['launchpad', 'callers', stranger, '-o', 'json']);
    expect(single.json()).toMatchObject([{ wallet: stranger }]);
  });

  test('says when callouts were read, also of those that were saved', async () => {
    const { run, sandbox } = await openDesk();
    const words = ['launchpad', 'callers', 'mira', 'solwolf', '--calls'];
    const began = Date.now();
    const first = (await run(words)).records();
    expect(first.length).toBeGreaterThan(0);
    for (const { readAt } of first) expect(Number(readAt)).toBeGreaterThanOrEqual(began);
    const before = sandbox.meter().totalUnits;
    const again = await run(words, { clock: ahead(300_000) });
    expect(again.records()).toEqual(first);
    expect(sandbox.meter().totalUnits).toBe(before);
    const shown = (await run([...words, '--fields', 'id,readAt', '--times', 'iso'])).records();
    expect(shown[0]?.['readAt']).toBe(new Date(Number(first[0]?.['readAt'])).toISOString());
  });

  test('says of which callers there are no callouts, and prints those of a wallet once', async () => {
    const { run } = await openDesk();
    const words = ['launchpad', 'callers', 'mira', '--calls'];
    const alone = (await run(words)).records();
    const [{ wallet } = {}] = alone;
    const ran = await run([...words, 'nobodyhere', String(wallet)]);
    expect(ran.records()).toEqual(alone);
    expect(ran.said).toContain('not found: nobodyhere');
    const refused = await withService(() => ({
      status: 403,
      body: { error: { code: 'FORBIDDEN', message: 'no' } },
    }));
    const failed = await runInProcess([...words.slice(0, 2), String(wallet), '--calls'], {
      sandbox: refused,
    });
    expect(failed.said).toContain(`failed: ${wallet}`);
  });

  test('prints each callout once, whatever its id is', async () => {
    const ids = ['"c1"', '700000000000000081', '700000000000000082', '7', '"7"', 'null', 'null'];
    const items = ids.map((id) => `{"id":${id},"wallet":"w"}`);
    const body = Buffer.from(`{"count":7,"hasMore":false,"nextBefore":null,"items":[${items}]}`);
    const service = await withService(() => ({ body }));
    const wallets = ['8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6', `0x${'1'.repeat(40)}`];
    const words = ['launchpad', 'callers', ...wallets, '--calls', '--fields', 'id'];
    const ran = await runInProcess(words, { sandbox: service });
    const printed = ran.lines().map((line) => line.slice('{"id":'.length, -1));
    expect(printed).toEqual([...ids.slice(0, 4), ...Array(4).fill('null')]);
    const sums = await runInProcess(words.slice(0, 3), { sandbox: service });
    expect(sums.records()[0]).toMatchObject({ calls: 6 });
  });

  test('prints the callouts that were paid for before a page fails', async () => {
    const items = Array.from({ length: 25 }, (_, at) => ({
      ...{ id: `c${at}`, wallet: 'w', userName: null, xUsername: null, isVerified: null },
      ...{ coinMint: 'm', chain: null, coinSymbol: null, coinName: null, thesis: null },
      ...{ mediaUrl: null, calledOutAtMcap: null, multiple: 3, maxMultiplier: null },
      createdAt: Date.now() - at,
    }));
    const page = { count: 25, hasMore: true, nextBefore: 'c24', items };
    const service = await withService(({ path }) =>
      path.includes('before') ? { status: 500, body: {} } : { body: page },
    );
    const wallet = '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6';
    const words = ['launchpad', 'callers', wallet, '--limit', '60', '--retries', '0'];
    const ran = await runInProcess(words, { sandbox: service });
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(ran.records()).toMatchObject([{ calls: 25, complete: false, medianMultiple: 3 }]);
    const list = await runInProcess([...words, '--calls'], { sandbox: service });
    expect([list.exitCode, list.records().length]).toEqual([9, 25]);
    const table = await runInProcess([...words, '-o', 'table', '--color', 'never'], {
      sandbox: service,
    });
    expect(table.stdout).toContain('25+');
  });
});
