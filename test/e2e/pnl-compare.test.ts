import { describe, expect, test } from 'vitest';
import { SEED } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';
import { type Home, openDesk, openHome, runInProcess } from './harness.ts';

const windowNames = ['24h', '7d', '30d', 'all'];
const names = ['netUsd', 'returnPct', 'volumeUsd', 'trades', 'rank'];

/** A record with numbers in all windows, which are the same for the same seed. */
function recordOf(handle: string, seed: number) {
  const dice = rngOf(seed);
  const cents = () => dice.int(2_000_000) / 100 - 10_000;
  const windows = windowNames.map((window) => [
    window,
    {
      ...{ netUsd: cents(), returnPct: cents(), volumeUsd: cents() },
      ...{ trades: dice.int(99), rank: 1 + dice.int(99) },
    },
  ]);
  return {
    ...{ subject: handle, found: true, handle, displayName: null, avatarUrl: null, twitter: null },
    ...{ followers: 1, wallet: `w-${handle}`, evmWallet: null, updatedAt: 1_700_000_000_000 },
    windows: Object.fromEntries(windows),
  };
}

const missing = (subject: string) => ({ subject, found: false, code: 'NOT_OBSERVED' });
const failed = (subject: string) => ({
  subject,
  found: null,
  error: { code: 'X', message: 'x', retryable: false },
});

/** Two exports with one trader of each kind. */
function twoExports(): Home {
  const home = openHome();
  const up = recordOf('up', 1);
  const week = up.windows['7d'];
  const moved = (by: number) => ({
    ...up.windows,
    '7d': { ...week, netUsd: week.netUsd + by, rank: week.rank - 2 },
  });
  const kept = [recordOf('same', 3), missing('nobody'), failed('broken')];
  home.write('old.ndjson', [
    up,
    { ...up, subject: 'down', handle: 'down' },
    recordOf('gone', 2),
    ...kept,
  ]);
  home.write('new.ndjson', [
    { ...up, subject: '@UP', windows: moved(0.1) },
    { ...up, subject: 'down', handle: 'down', windows: moved(-25) },
    { ...recordOf('same', 3), subject: 'w-same' },
    recordOf('fresh', 4),
    ...[missing('nobody'), recordOf('broken', 5)],
  ]);
  return home;
}

const compare = ['pnl', '--from', 'new.ndjson', '--compare', 'old.ndjson'];

describe('pnl --compare', () => {
  test('states what changed for each trader, without a call', async () => {
    const ran = await runInProcess(compare, { home: twoExports() });
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(ran.records().map(({ subject, change }) => [subject, change])).toEqual([
      ['@UP', 'changed'],
      ['down', 'changed'],
      ['w-same', 'same'],
      ['fresh', 'new'],
      ['nobody', 'same'],
      ['broken', null],
      ['gone', 'left'],
    ]);
    expect(ran.records()[0]).toMatchObject({
      changes: { '7d': { netUsd: 0.1, returnPct: 0, rank: 2 }, '24h': { netUsd: 0 } },
    });
    const none = Object.fromEntries(names.map((name) => [name, null]));
    expect(ran.records()[3]).toMatchObject({ changes: { '7d': none, all: none } });
    expect(ran.records()[6]).toMatchObject({
      found: true,
      windows: { '7d': null },
      changes: { '7d': none },
    });
  });

  test.each([
    ['--only up', ['@UP']],
    ['--only down,left', ['down', 'gone']],
    ['--only new', ['fresh']],
    ['--only up --window 24h', []],
    ['--changed', ['@UP', 'down', 'fresh', 'broken', 'gone']],
    ['--changed --window 24h,7d', ['@UP', 'down', 'fresh', 'broken', 'gone']],
    // Nothing changed in the window that is shown.
    ['--changed --window 24h', ['fresh', 'broken', 'gone']],
  ])('selects with %s', async (flags, subjects) => {
    const ran = await twoExports().run([...compare, ...flags.split(' ')]);
    expect(ran.records().map(({ subject }) => subject)).toEqual(subjects);
  });

  test.each([
    ['ndjson', '--changed', true],
    ['csv', '--changed', true],
    ['json', '--only=up', true],
    ['ndjson', '--window=7d', false],
    ['csv', '--window=7d', false],
  ])('says so if a file (%s) has only what had changed (%s)', async (format, flag, isPart) => {
    const home = twoExports();
    const old = `part.${format}`;
    await runInProcess([...compare, flag, '--out', old], { home });
    for (const [from, to] of [
      ['new.ndjson', old],
      [old, 'old.ndjson'],
    ]) {
      const ran = await runInProcess(`pnl --from ${from} --compare ${to}`, { home });
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(ran.stderr.includes(`${old} has only what had changed`)).toBe(isPart);
    }
  });

  // A trader is written `handle/wallet`, after the subject if that is another one; `!` is not found.
  test.each([
    ['the same by handle and wallet', 'a/1 1=a/1', 'a/1 1=a/1', 'a same, 1 same'],
    ['the same, now by the wallet only', 'a/1 1=a/1', '1=a/1', '1 same'],
    ['renamed, both handles requested', 'a/1', '!a b/1', 'a null, b changed was a'],
    ['renamed, the new handle requested first', 'a/1', 'b/1 !a', 'b changed was a, a null'],
    ['renamed, the new handle missing before', 'a/1 !b', '!a b/1', 'a null, b changed was a'],
    ['renamed, requested by the old handle', 'a/1', 'a=b/1', 'a changed was a'],
    ['renamed, and the handle is reused', 'a/1', 'a/2 b/1', 'a new, b changed was a'],
    ['two who swapped handles', 'a/1 b/2', 'a/2 b/1', 'a changed was b, b changed was a'],
    ['with another wallet', 'a/1', 'a/2', 'a same'],
    ['a wallet that passed to another trader', '1=a/1', '1=b/1', '1 changed was a'],
    ['a wallet that another trader shares now', 'a/1', 'a/1 b/1', 'a same, b new'],
    ['a wallet of two traders', 'a/1 b/1', 'c/1 a/1', 'c new, a same, b left'],
    ['gone, and requested again', 'a/1', '!a', 'a left'],
    ['gone, not requested', 'a/1 1=a/1', 'b/2', 'b new, a left'],
    ['missing twice', '!a', '!a', 'a same'],
  ])('finds a trader who is %s', async (_, old, now, expected) => {
    const home = openHome();
    const recordsOf = (text: string) =>
      text.split(' ').map((word) => {
        const [subject = '', handle = subject] = word.replace('!', '').split('=');
        const [name = '', wallet] = handle.split('/');
        if (word.startsWith('!')) return missing(name);
        return { ...recordOf(name, 1), subject: subject.split('/')[0], wallet: `w${wallet}` };
      });
    home.write('old.ndjson', recordsOf(old));
    home.write('new.ndjson', recordsOf(now));
    const ran = await home.run(compare);
    const changes = ran
      .records()
      .map(({ subject, change, was }) => `${subject} ${change}${was ? ` was ${was}` : ''}`);
    expect(changes.join(', ')).toBe(expected);
    const summary = (await home.run(compare, { tty: { stderr: true } })).stderr;
    const left = expected.split(' left').length - 1;
    expect(summary).toContain(` ${left} out,`);
  });

  test('prints nothing where nothing changed, in formats for people', async () => {
    const home = openHome();
    home.write('old.ndjson', [recordOf('a', 1)]);
    for (const format of ['table', 'markdown']) {
      const words = ['pnl', '--from', 'old.ndjson', '--compare', 'old.ndjson', '--changed'];
      const ran = await home.run([...words, '-o', format]);
      expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([0, '', 'trdr: nothing changed\n']);
    }
  });

  test('names the earlier handle of a trader who has another one now', async () => {
    const home = openHome();
    const old = recordOf('old', 1);
    home.write('old.ndjson', [old, recordOf('same', 2)]);
    const renamed = { ...old, subject: old.wallet, handle: 'fresh' };
    home.write('new.ndjson', [renamed, recordOf('same', 2)]);
    const ran = await home.run([...compare, '--changed']);
    expect(ran.records()).toMatchObject([{ handle: 'fresh', change: 'changed', was: 'old' }]);
    const table = await home.run([...compare, '--changed', '-o', 'table']);
    expect(table.stdout).toMatch(/@fresh +changed, was @old/);
    const csv = await home.run([...compare, '-o', 'csv', '--window', '7d']);
    expect(csv.lines()[1]).toMatch(/,changed,0,0,0,0,0,old$/);
    expect(csv.lines()[2]).toMatch(/,same,0,0,0,0,0,$/);
  });

  test('shows the differences of the first window in tables, and a summary on a terminal', async () => {
    const home = twoExports();
    const ran = await home.run([...compare, '--changed', '--color', 'never'], {
      tty: true,
      columns: 120,
    });
    expect(ran.stderr).toContain(
      'cash flow 7d: 1 new, 1 out, 1 up, 1 down; biggest gain @up +$0.10; biggest loss @down',
    );
    expect(ran.stdout).toMatch(
      /cash flow 7d +d cash flow 7d +d return 7d +d volume 7d +d trades 7d +d rank 7d/,
    );
    expect(ran.stdout).toMatch(/@down +changed +\S+ +-\$25\.00/);
    const page = await home.run([...compare, '-o', 'markdown', '--window', '30d']);
    expect(page.stdout).toContain(
      '| handle | change | cash flow 30d | Δ cash flow 30d | Δ return 30d |',
    );
    expect(page.stderr).toBe('');
  });

  test('writes a CSV with the differences in columns, which is an export too', async () => {
    const home = twoExports();
    await runInProcess([...compare, '--out', 'both.csv'], { home });
    const [header = '', first] = home.read('both.csv').split('\n');
    expect(header).toMatch(
      /,rank,asOf,readAt,via,change,netUsdChange,returnPctChange,volumeUsdChange,tradesChange,rankChange,was$/,
    );
    expect(first).toMatch(/,changed,0,0,0,0,0,$/);
    const again = await runInProcess('pnl --from new.ndjson --compare both.csv --changed', {
      home,
    });
    expect(again.records().map(({ subject }) => subject)).toEqual([]);
    const [asNew, plain] = await Promise.all(
      ['both.csv', 'new.ndjson'].map((from) =>
        runInProcess(['pnl', '--from', from, '--compare', 'old.ndjson'], { home }),
      ),
    );
    const changesOf = (ran: typeof again | undefined) =>
      ran?.records().map(({ subject, change }) => [subject, change]);
    expect(changesOf(asNew)).toEqual(changesOf(plain));
  });

  test('compares with numbers from the service, and fails before it pays if the export cannot be read', async () => {
    const { sandbox, home } = await openDesk();
    const options = { sandbox, home };
    await runInProcess('pnl mira quantumhawk --out old.csv', options);
    const spent = sandbox.meter().totalUnits;
    for (const path of ['none.csv', 'handles.txt']) {
      home.write('handles.txt', 'just text\n');
      const ran = await runInProcess(['pnl', 'turbo-walrus', '--compare', path], options);
      expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([2, spent]);
    }
    for (const out of [[], ['--out', 'new.ndjson', '--resume', '--fresh']]) {
      const ran = await runInProcess(
        ['pnl', 'mira', 'nobody_here', '--compare', 'old.csv', ...out],
        options,
      );
      const rows = out.length === 0 ? ran.stdout : home.read('new.ndjson');
      const changes = rows
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).change);
      expect(changes, ran.stderr).toEqual(['same', 'same', 'left']);
    }
  });

  test(`old plus the difference is new, in any format of the exports (SEED=${SEED})`, async () => {
    const dice = rngOf(SEED);
    const home = openHome();
    const handles = Array.from({ length: 30 }, (_, at) => `trader_${at}`);
    const [old, now] = [SEED, SEED + 1_000].map((seed) =>
      handles.filter(() => dice.chance(0.8)).map((handle) => recordOf(handle, seed + dice.int(50))),
    );
    home.write('old.ndjson', old ?? []);
    home.write('new.ndjson', now ?? []);
    const [from, to] = [dice.pick(['csv', 'json', 'tsv']), dice.pick(['csv', 'json', 'tsv'])];
    await home.run(['pnl', '--from', 'old.ndjson', '--out', `o.${from}`]);
    await home.run(['pnl', '--from', 'new.ndjson', '--out', `n.${to}`]);
    const words = ['pnl', '--from', `n.${to}`, '--compare', `o.${from}`, '-o', 'ndjson'];
    const ran = await home.run(words);
    const before = new Map(old?.map((record) => [record.handle, record]));
    for (const record of ran.records() as ReturnType<typeof recordOf>[]) {
      const changes = JSON.parse(JSON.stringify(record)).changes;
      const was = before.get(record.handle);
      for (const window of windowNames)
        for (const name of names) {
          const [new_, old_] = [record.windows[window]?.[name], was?.windows[window]?.[name]];
          const sign = name === 'rank' ? -1 : 1;
          if (new_ === undefined || old_ === undefined) expect(changes[window][name]).toBeNull();
          else expect(changes[window][name]).toBeCloseTo(sign * (new_ - old_), 6);
        }
    }
    expect(new Set(ran.records().map(({ handle }) => handle)).size).toBe(
      new Set([...(old ?? []), ...(now ?? [])].map(({ handle }) => handle)).size,
    );
  });
});
