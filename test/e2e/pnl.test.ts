import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { deskOf, openDesk, openHome, runInProcess, withoutReading, wordsOf } from './harness.ts';
import { numbersOf, recordsOf, someHandles, withNumbers } from './numbers.ts';

const posts = (sandbox: { readonly log: readonly { readonly endpoint: string | null }[] }) =>
  sandbox.log.map(({ endpoint }) => endpoint).filter((endpoint) => endpoint !== 'me');

describe('trdr pnl', () => {
  test('uses the single call for one handle, and prints one record as JSON', async () => {
    const { sandbox, run } = deskOf(await withNumbers());
    const { exitCode, json, stderr } = await run('pnl @MIRA --json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(json()).toEqual({ subject: '@MIRA', found: true, ...numbersOf('mira') });
    expect(sandbox.log.map(({ endpoint }) => endpoint)).toEqual(['user.pnl']);
  });

  test('requests several in one batch, each once in any case, and keeps the order', async () => {
    const { sandbox, run } = deskOf(await withNumbers());
    const given = ['solwolf', '@Mira', 'nosuch', 'MIRA', 'quiet', 'SolWolf'];
    const { exitCode, records } = await run(['pnl', ...given, '-y']);
    expect(exitCode).toBe(0);
    expect(records()).toEqual(recordsOf(['solwolf', '@Mira', 'nosuch', 'quiet']));
    expect(posts(sandbox)).toEqual(['users.pnl']);
    expect(sandbox.meter().totalUnits).toBe(90_200);
  });

  test.each(['@@mira', ' @mira '])('sends %j without @', async (text) => {
    const plan = await runInProcess(['pnl', text, 'solwolf', '--dry-run'], { key: null });
    expect(plan.records()).toMatchObject([{ body: { handles: ['mira', 'solwolf'] } }]);
  });

  test('reads a link to a profile as its handle, and says so', async () => {
    const { sandbox, run } = deskOf(await withNumbers());
    const args = ['pnl', 'https://x.com/mira', 'solwolf', 'MIRA', '-y'];
    const { records, said } = await run(args);
    expect(records()).toMatchObject([
      { subject: 'https://x.com/mira', handle: 'mira' },
      { subject: 'solwolf', handle: 'solwolf' },
    ]);
    expect(said).toContain('https://x.com/mira is read as the handle @mira');
    expect(sandbox.meter().totalUnits).toBe(60_000);
  });

  test('reads handles from a field of posts', async () => {
    const sandbox = await withNumbers();
    const posts = await runInProcess('thesis list --limit 5', { sandbox });
    const authors = new Set(posts.records().map(({ authorHandle }) => authorHandle));
    const before = sandbox.log.length;
    const args = ['pnl', '-', '--column', 'authorHandle', '--dry-run'];
    const { records } = await runInProcess(args, { sandbox, stdin: posts.stdout });
    expect(records()[0]?.['body']).toEqual({ handles: [...authors] });
    const header = await runInProcess('pnl - --sandbox', {
      stdin: 'authorHandle\nmira\n',
    });
    expect([header.exitCode, sandbox.log.length]).toEqual([2, before]);
  });

  test('exits 3 if none was found, and 10 with --strict if one is missing', async () => {
    const sandbox = await withNumbers();
    const none = await runInProcess('pnl nobody1 nobody2', { sandbox });
    const strict = await runInProcess('pnl mira nobody2 --strict', { sandbox });
    const single = await runInProcess('pnl nobody1', { sandbox });
    expect([none.exitCode, strict.exitCode, single.exitCode]).toEqual([3, 10, 3]);
    expect(single.records()).toEqual([{ subject: 'nobody1', found: false, code: 'NOT_OBSERVED' }]);
  });

  test('plans without sending anything', async () => {
    const { sandbox, home, run } = deskOf(await withNumbers());
    const handles = someHandles(130);
    const out = home.at('out.csv');
    const args = ['pnl', '-', '--dry-run', '--out', out, '-o', 'ndjson', '--fields', 'handle'];
    const { exitCode, records } = await run(args, { stdin: handles.join('\n') });
    expect([exitCode, sandbox.log.length, existsSync(out)]).toEqual([0, 0, false]);
    expect(records().map(({ endpoint, least, most }) => [endpoint, least, most])).toEqual([
      ['users.pnl', 20_000, 3_000_000],
      ['users.pnl', 6_000, 900_000],
    ]);
  });

  test('shows units and reveals left before it prompts', async () => {
    const { sandbox, run } = deskOf(
      await withNumbers({ monthlyUnits: 100_000, revealsPerMonth: 5 }),
    );
    const { exitCode, said } = await run(['pnl', ...someHandles(8)], {
      tty: true,
      typed: ['n\n'],
    });
    expect(exitCode).toBe(11);
    expect(said).toContain(
      'This will cost 1,600–240,000 CU for 8 handles (100,000 CU left; 5 wallet reveals left). Continue?',
    );
    expect(posts(sandbox)).toEqual([]);
  });

  test('uses the remaining reveals if each wallet counts', async () => {
    const { run } = deskOf(await withNumbers({ revealsPerMonth: 2, batchReveals: 'entry' }));
    const handles = ['mira', 'solwolf', '0xMert', 'quiet'];
    const { exitCode, records, error } = await run(['pnl', ...handles, '-y']);
    expect([exitCode, records().length]).toEqual([6, 2]);
    expect(error()['code']).toBe('REVEAL_LIMIT_REACHED');
  });
});

describe('unknown handles, missing wallets and missing numbers', () => {
  const handles = ['mira', 'nosuch', 'nowallet', 'quiet'];
  const inTable = async (args: readonly string[], columns = 100) => {
    const { run } = deskOf(await withNumbers());
    const env = { LANG: 'C.UTF-8', NO_COLOR: '1', TZ: 'UTC' };
    return (await run(['pnl', ...args, '-y'], { tty: true, columns, env })).stdout;
  };

  test('differ in CSV, whose header never changes', async () => {
    const sandbox = await withNumbers();
    const all = await runInProcess(['pnl', ...handles, '-y', '-o', 'csv'], { sandbox });
    const week = await runInProcess('pnl nosuch mira -o csv --window 7d', {
      sandbox,
    });
    const [header, ...rows] = all.lines();
    expect(header).toBe(
      'subject,found,status,code,handle,displayName,avatarUrl,twitter,followers,wallet,evmWallet,updatedAt,window,netUsd,returnPct,volumeUsd,trades,rank,asOf,readAt,via',
    );
    expect(week.lines()[0]).toBe(header);
    expect(rows).toHaveLength(16);
    const told = rows.map((row) => row.split(',').slice(0, 3).join(','));
    expect([told[3], told[4], told[8], told[12]]).toEqual([
      'mira,true,ok',
      'nosuch,false,not_held',
      'nowallet,true,no_wallet',
      'quiet,true,no_numbers',
    ]);
    const { netUsd, returnPct, volumeUsd, trades, rank } = numbersOf('mira')?.windows['7d'] ?? {};
    expect(
      withoutReading(`${week.lines()[2]}`).endsWith(
        `,7d,${netUsd},${returnPct},${volumeUsd},${trades},${rank}`,
      ),
    ).toBe(true);
  });

  test.each([
    ['a line per trader', handles, /^handle +cash flow 24h .* cash flow all +note$/],
    [
      'rows, and are sorted last',
      wordsOf('mira nosuch nowallet quiet solwolf evil --sort rank --window 30d'),
      /^handle +cash flow 30d +return +volume +trades +rank +note$/,
    ],
  ])('differ in %s', async (_, words, head) => {
    const [title, , ...lines] = (await inTable(words)).trimEnd().split('\n');
    expect(title).toMatch(head);
    const notes = ['not found', 'no verified wallet', 'no numbers'];
    expect(lines.slice(-3).map((line) => line.split('· ')[1])).toEqual(notes);
    const ranks = lines.slice(0, -3).map((line) => Number(/(\d+)\s*$/.exec(line)?.[1]));
    expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  });

  test('differ on the card of one trader', async () => {
    expect(await inTable(['quiet'])).toMatch(/^@quiet: no numbers\n/);
    expect(await inTable(['nosuch'])).toMatch(/^@nosuch: not found\n/);
    expect(await inTable(['nowallet'])).toMatch(/^@nowallet: no verified wallet\n/);
    expect(await inTable(['mira'])).toMatch(
      /^@mira\n[\s\S]*window +cash flow +return +volume +trades +rank/,
    );
  });
});

describe('formatting', () => {
  test('sorts CSV by the first window, and keeps the rows of a handle together', async () => {
    const { run } = deskOf(await withNumbers());
    const handles = someHandles(60);
    const args = 'pnl - -y -o csv --window 7d --window all --sort volumeUsd'.split(' ');
    const { lines } = await run(args, { stdin: handles.join('\n') });
    const rows = lines()
      .slice(1)
      .map((line) => line.split(','));
    expect(rows.map((row) => row[12])).toEqual(handles.flatMap(() => ['7d', 'all']));
    const volumes = rows
      .filter((row) => row[12] === '7d' && row[2] === 'ok')
      .map((row) => Number(row.at(-3)));
    expect(volumes).toEqual([...volumes].sort((a, b) => b - a));
    expect(volumes.length).toBeGreaterThan(10);
  });

  test.each(['ndjson', 'json', 'csv', 'table', 'markdown'])(
    'prints the best N of the first window, and the windows that are selected, as %s',
    async (format) => {
      const { run } = deskOf(await withNumbers());
      const handles = someHandles(12);
      const args = ['pnl', ...handles, '-y', '--window', '7d', '--sort', 'netUsd', '-o', format];
      const { stdout } = await run([...args, '--top', '3']);
      const best = handles
        .map((handle) => ({ handle, value: numbersOf(handle)?.windows['7d']?.netUsd ?? -Infinity }))
        .sort((one, other) => other.value - one.value)
        .map(({ handle }) => handle);
      const places = best.map((handle) => stdout.search(new RegExp(`${handle}\\b`)));
      expect(places.slice(0, 3)).toEqual([...places.slice(0, 3)].sort((a, b) => a - b));
      expect(places.slice(3).filter((place) => place >= 0)).toEqual([]);
      expect(Math.min(...places.slice(0, 3))).toBeGreaterThanOrEqual(0);
      if (format.endsWith('json')) expect(stdout).not.toContain('"30d"');
    },
  );

  test.each([
    [2, /^window +@/],
    [3, /^handle +volume 7d +volume all$/],
    [20, /^handle +volume 7d +volume all$/],
    [21, /^handle +window +cash flow/],
  ])('has a line per trader and a column per window for 3 to 20: %i', async (count, head) => {
    const sandbox = await withNumbers();
    const handles = someHandles(80).filter((handle) => numbersOf(handle)?.windows.all);
    const args = ['pnl', ...handles.slice(0, count), '-y', '--window', '7d,all'];
    const table = await runInProcess([...args, '--sort', 'volumeUsd', '-o', 'table'], { sandbox });
    expect(table.lines()[0]).toMatch(head);
    const page = await runInProcess([...args, '-o', 'markdown'], { sandbox });
    const isGrid = count >= 3 && count <= 20;
    expect(page.lines()[0]?.startsWith('| handle | cash flow 7d | cash flow all |')).toBe(isGrid);
    if (isGrid) expect([table.lines().length, page.lines().length]).toEqual([count + 2, count + 2]);
  });

  test.each([[], ['--compare', 'old.ndjson']])(
    'names windows without room: %j',
    async (...compare) => {
      const home = openHome();
      const handles = someHandles(20).filter((handle) => numbersOf(handle)?.windows.all);
      const records = recordsOf(handles).map((record) => `${JSON.stringify(record)}\n`);
      home.write('old.ndjson', records.join(''));
      const windows = ['24h', '7d', '30d', 'all'];
      const words = ['pnl', '--from', 'old.ndjson', ...compare, '--window', windows.join()];
      for (const columns of [20, 40, 60, 80, 120, 200]) {
        const ran = await home.run([...words, '--color', 'never'], { tty: true, columns });
        const head = ran.lines()[0] ?? '';
        const title = compare.length > 0 ? 'd cash flow' : 'cash flow';
        const [shown, named] = [head, ran.said].map((text) =>
          windows.filter((window) => new RegExp(`\\b${title} ${window}\\b`).test(text)),
        );
        if (columns >= 40)
          expect([...(shown ?? []), ...(named ?? [])].toSorted()).toEqual(windows.toSorted());
        expect(ran.said.includes('no room for')).toBe(named?.length !== 0);
      }
    },
  );

  test.each(['netUsd', 'rank'] as const)('sorts by %s, and in reverse', async (measure) => {
    const { run } = deskOf(await withNumbers());
    const handles = someHandles(12);
    const args = ['pnl', ...handles, 'nosuch', '-y', '--window', '7d', '--sort', measure];
    const { records } = await run([...args, '--reverse']);
    const measured = (handle: string) => numbersOf(handle)?.windows['7d']?.[measure];
    const values = records().map(({ subject }) => measured(String(subject)));
    const numbers = values.filter((value) => value !== undefined);
    expect(values.slice(0, numbers.length)).toEqual(numbers);
    const worstFirst = measure === 'rank' ? -1 : 1;
    expect(numbers).toEqual(numbers.toSorted((one, other) => worstFirst * (one - other)));
  });

  test.each([
    ['a ceiling', ['--max-cu', '299999'], 'CEILING'],
    ['a budget', ['--yes'], 'BUDGET'],
  ])('prints nine of ten under %s, and names the other', async (what, flags, code) => {
    const { sandbox, home, run } = await openDesk();
    if (what === 'a budget') await home.run('budget set day 299999');
    const handles = someHandles(40)
      .filter((handle) => numbersOf(handle)?.windows.all)
      .slice(0, 10);
    const args = ['pnl', ...handles, ...flags, '-o', 'ndjson'];
    const ran = await run(args);
    expect([ran.exitCode, ran.error()['code']]).toEqual([6, code]);
    expect(ran.records().map(({ subject }) => subject)).toEqual(handles.slice(0, 9));
    expect(ran.said).toContain(`skipped 1 handle: ${handles[9]}`);
    expect(sandbox.meter().totalUnits).toBe(270_000);
    const file = await run([...args, '--no-cache', '--out', 'desk.csv']);
    expect([file.exitCode, file.error()['code']]).toEqual([6, code]);
  });

  test('selects fields of rows in CSV, and fields of records in every format', async () => {
    const sandbox = await withNumbers();
    const rows = await runInProcess('pnl mira quiet -o csv --window all --fields handle,netUsd', {
      sandbox,
    });
    const records = await runInProcess('pnl mira quiet -o csv --fields windows.all.netUsd,handle', {
      sandbox,
    });
    const net = numbersOf('mira')?.windows.all?.netUsd;
    expect(rows.stdout).toBe(`handle,netUsd\nmira,${net}\nquiet,\n`);
    expect(records.stdout).toBe(`windows.all.netUsd,handle\n${net},mira\n,quiet\n`);
    const unknown = await runInProcess('pnl mira --fields netUsd', { sandbox });
    expect(unknown.error()).toMatchObject({
      exit: 2,
      hint: expect.stringContaining('windows.7d.netUsd'),
    });
  });
});
