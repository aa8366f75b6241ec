import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Thesis } from '../../src/contract/records/thesis.ts';
import { repeats, SEED } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { ahead, argv, linesOf, openDesk, openHome, recordsIn, thesesOf } from './harness.ts';
import { receiptOf } from './numbers.ts';
import { withService } from './service.ts';

/** More authors than one batch of lookups, in a soak. AUTHORS=100000 takes more. */
const AUTHORS = repeats('AUTHORS', 50, 30_000);
const SOL = '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg';
const EVM = '0xabcdef0000000000000000000000000000000001';
const TOKEN = '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg';
const terminal = { tty: true, env: { NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' } };

/** The handles with the most theses. */
function handlesOf(sandbox: Sandbox): string[] {
  const counts = new Map<string, number>();
  for (const { authorHandle, authorId } of thesesOf(sandbox))
    if (authorHandle && authorId) counts.set(authorHandle, (counts.get(authorHandle) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([handle]) => handle);
}

/** A record without what depends on where it was read. */
const bare = (stdout: string) =>
  stdout.replaceAll(/"(?:readAt|via|complete)":(?:"\w+"|\w+),?/g, '').replaceAll(',}', '}');

describe('trdr author', () => {
  test('costs what it says, to the unit, and the same question by id no lookup', async () => {
    const { sandbox, home, run } = await openDesk();
    const [most = ''] = handlesOf(sandbox);
    const author = thesesOf(sandbox).find(({ authorHandle }) => authorHandle === most);
    const limit = ['--limit', '40'];
    const planned = await run(['author', most, ...limit, '--dry-run']);
    const greatest = planned.records().reduce((sum, { most }) => sum + Number(most), 0);
    expect(planned.records().map(({ least }) => least)).toEqual([100, 0]);
    const { stdout } = await run(['author', most, ...limit]);
    expect(JSON.parse(stdout)).toMatchObject({ posts: 40, complete: false, via: 'service' });
    expect(receiptOf(home)).toMatchObject({ cu: 500 });
    expect(greatest).toBe(200 + 400);
    const byId = await run(['author', String(author?.authorId), ...limit]);
    expect(bare(byId.stdout)).toBe(
      bare(stdout).replace(`"subject":"${most}"`, `"subject":"${author?.authorId}"`),
    );
    // The theses of the first question are saved.
    expect(receiptOf(home)).toMatchObject({ cu: 500 });
  });

  const stretches = [[['--limit', '60']], [['--since', '400d']]];
  test.each(stretches)(
    'pays once for an author who is named in several ways (%s)',
    async (flags) => {
      const { sandbox, home, run } = await openDesk();
      const [handle = ''] = handlesOf(sandbox);
      const id = String(thesesOf(sandbox).find((post) => post.authorHandle === handle)?.authorId);
      const ran = await run(['author', handle, id, `@${handle}`, ...flags]);
      const [first, ...others] = ran.records().map(({ subject: _, ...record }) => record);
      expect(others).toEqual([first, first]);
      const pages = Math.ceil(Number(first?.['posts']) / 20);
      expect(receiptOf(home)).toMatchObject({ cu: 100 + pages * 200 });
      const positions = await run(['author', handle, id, '--positions', ...flags]);
      const once = await run(['author', handle, '--positions', ...flags]);
      expect(positions.stdout).toBe(once.stdout);
    },
  );

  test.each([['author'], ['launchpad callers']])(
    'pays once for who is named again at the end of a list, whatever is cached: trdr %s',
    async (command) => {
      const { sandbox, home, run } = await openDesk();
      const others = handlesOf(sandbox)
        .filter((handle) => handle !== 'mira')
        .slice(0, 12);
      const mira = sandbox.world.user('mira');
      const again = command === 'author' ? mira?.id : mira?.solanaAddress;
      const words = [...command.split(' '), 'mira', ...others, '--limit', '20'];
      for (const flags of [['--no-cache'], ['--max-age', '0s']]) {
        const before = receiptOf(home).cu;
        await run([...words, ...flags]);
        const once = receiptOf(home).cu - before;
        const { records } = await run([...words, String(again), ...flags]);
        expect(receiptOf(home)).toMatchObject({ cu: before + 2 * once });
        const [first, ...rest] = records().map(({ subject: _, ...record }) => record);
        expect(rest.at(-1)).toEqual(first);
      }
    },
  );

  test('sums what is open or closed, and lists and sorts these positions', async () => {
    const { sandbox, run } = await openDesk();
    const handle = handlesOf(sandbox)[3] ?? '';
    const read = async (flags: string) => (await run(`author ${handle} --all ${flags}`)).records();
    const [record] = await read('');
    const positions = await read('--positions');
    const [closed, open] = ['closed', 'open'].map((one) =>
      positions.filter(({ status }) => status === one),
    );
    expect(record).toMatchObject({
      complete: true,
      closed: { positions: closed?.length },
      open: { positions: open?.length },
    });
    expect(await read('--open')).toMatchObject([{ closed: null, open: record?.['open'] }]);
    expect(await read('--closed')).toMatchObject([{ closed: record?.['closed'], open: null }]);
    const large = closed?.filter(({ tradeUsd }) => Number(tradeUsd) >= 1_000) ?? [];
    expect(large.length).toBeGreaterThan(0);
    const withoutTime = (rows: readonly object[]) => rows.map((row) => ({ ...row, readAt: 0 }));
    const filtered = await read('--positions --closed --min-trade 1k');
    expect(withoutTime(filtered)).toEqual(withoutTime(large));
    const best = positions.map(({ pnlUsd }) => Number(pnlUsd)).sort((one, other) => other - one);
    const sorted = await read('--positions --sort pnlUsd --top 3');
    expect(sorted.map(({ pnlUsd }) => pnlUsd)).toEqual(best.slice(0, 3));
    const none = await run(`author ${handle} --all --network solana`);
    expect(none.stderr).toMatch(/no "solana" among \d+ positions; seen: \w+/);
  });

  test.each([[[]], [['--token', TOKEN]]])(
    'guesses no author, as in files, if theses do not say who wrote them (%s)',
    async (flags) => {
      const id = '3f679da5-8c94-4e2e-a551-213b7510858f';
      const items = [
        { id: 'b', closedAt: 1_767_225_700_000, realizedPnlUsd: 7 },
        { id: 'a', closedAt: null, tokenAddress: TOKEN, unrealizedPnlUsd: 1 },
      ].map((post) => ({ ...post, authorHandle: 'ann', platformCreatedAt: 1_767_225_600_000 }));
      const service = await withService(() => ({
        body: { count: 2, hasMore: false, nextBefore: null, items },
      }));
      const home = openHome();
      // The second answer is that of the cache.
      for (let run = 0; run < 2; run++) {
        const options = { sandbox: service, differs: true };
        const ran = await home.run(['author', id, ...flags], options);
        const beside = { withoutAuthor: 2, withoutToken: 0 };
        expect(ran.records()).toMatchObject([{ posts: 2, open: { positions: 0 }, beside }]);
      }
      expect(service.calls).toHaveLength(1);
    },
  );

  test('delivers what was paid for before a limit, and exits with it', async () => {
    const { sandbox, home, run } = await openDesk();
    const [first = '', second = ''] = handlesOf(sandbox);
    const cut = await run(['author', first, '--max-cu', '350']);
    expect(cut.exitCode).toBe(6);
    expect(cut.records()).toMatchObject([{ handle: first, posts: 20, complete: false }]);
    expect(receiptOf(home)).toMatchObject({ cu: 300 });
    const words = ['author', first, second, '--limit', '20', '--no-cache', '--max-cu', '450'];
    const several = await run(words);
    expect(several.exitCode).toBe(6);
    expect(several.records()).toHaveLength(1);
  });

  test.each([
    [['--token', SOL], 'service'],
    [['--token', SOL, '--token', EVM], 'service'],
    [['--token', SOL], 'files'],
    [['--token', SOL, '--token', EVM], 'files'],
  ])('keeps posts that may be about %j, as they do not say, from the %s', async (words, from) => {
    const id = '7d0a0f3e-7a55-4c0e-9a36-000000000001';
    const at = Date.now() - 60_000;
    const posts = [SOL, null, '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6'].map(
      (tokenAddress, index) => ({
        ...{ id: `p${index}`, authorId: id, tokenAddress },
        ...{ platformCreatedAt: at - index, closedAt: null },
      }),
    );
    const service = await withService(({ path }) => {
      const items = path.includes('/token/') ? posts.slice(0, 2) : posts;
      return { body: { hasMore: false, nextBefore: null, items } };
    });
    const home = openHome();
    const file = home.write('posts.ndjson', posts);
    const files = from === 'files' ? ['--from', file] : [];
    const options = { sandbox: service, differs: true };
    const ran = await home.run(['author', id, ...words, ...files, '-o', 'ndjson'], options);
    expect(ran.records()).toMatchObject([
      { posts: 2, open: { positions: 1 }, beside: { withoutToken: 1 } },
    ]);
  });

  test('asks a person before an agent reads many authors', async () => {
    const { home, run } = await openDesk();
    const many = Array.from({ length: 100 }, (_, at) => `somebody${at}`);
    const { exitCode, stderr } = await run(['author', ...many], { env: { AI_AGENT: 'yes' } });
    expect([exitCode, stderr]).toEqual([11, expect.stringContaining('CONFIRMATION_NEEDED')]);
    expect(receiptOf(home)).toMatchObject({ calls: 0, cu: 0 });
  });

  test('prints a record for each subject, in order or sorted, and says who is not found', async () => {
    const { sandbox, run } = await openDesk();
    const [first = '', second = '', third = ''] = handlesOf(sandbox);
    const words = ['author', third, 'nobody', first, second, '--limit', '20'];
    const asGiven = (await run(words)).records();
    expect(asGiven.map(({ subject, found }) => [subject, found])).toEqual([
      [third, true],
      ['nobody', false],
      [first, true],
      [second, true],
    ]);
    const sorted = (await run([...words, '--sort', 'open.runningSumUsd'])).records();
    const sums = sorted.map(({ open }) => (open as { runningSumUsd?: number })?.runningSumUsd);
    expect(sums.slice(0, 3)).toEqual(sums.slice(0, 3).toSorted((a = 0, b = 0) => b - a));
    expect(sorted.at(-1)).toMatchObject({ subject: 'nobody' });
    expect((await run([...words, '--strict'])).exitCode).toBe(10);
    expect((await run('author nobody')).exitCode).toBe(3);
  });

  test.each([80, 120])('shows a card, or a line an author, at %s columns', async (columns) => {
    const { sandbox, run } = await openDesk();
    const [first = '', second = ''] = handlesOf(sandbox);
    const card = await run(['author', first, '--limit', '40', '--top', '12'], {
      ...terminal,
      columns,
    });
    expect(card.stdout).toMatch(
      /^@.*\n[\s\S]*posts +40, not complete[\s\S]*closed PnL[\s\S]*running\n/,
    );
    expect(card.stdout).toContain('open, running');
    const table = await run(['author', first, second, '--limit', '40'], { ...terminal, columns });
    expect(table.lines()).toHaveLength(4);
    for (const line of [...card.lines(), ...table.lines()])
      expect(line.length).toBeLessThanOrEqual(columns);
  });

  test.each([
    ['author', 2, 'no author given'],
    ['author a --all --limit 3', 2, 'cannot be'],
    ['author a --sort nonsense', 2, 'for --sort'],
    ['author - --from -', 2, 'stdin'],
    ['author 9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin --from FILE', 2, 'posts name no wallets'],
    ['author nobody --from FILE', 3, ''],
    ['thesis list FILE', 2, 'unexpected argument'],
    ['thesis list --strict', 2, '--strict requires --from'],
    ['thesis list --user nobody --from FILE', 3, 'no posts by nobody'],
    ['thesis list --before nothing --from FILE', 2, 'no thesis nothing'],
    ['thesis list --from missing.ndjson', 2, 'missing.ndjson'],
  ])('%s exits %s', async (line, code, text) => {
    const { home, sandbox, run } = await openDesk();
    const file = home.write('posts.ndjson', thesesOf(sandbox).slice(0, 5));
    const words = line.split(' ').map((word) => (word === 'FILE' ? file : word));
    const { exitCode, stderr } = await run(words);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(text)]);
  });
});

/** A closed (number) or open position with this PnL, or of an unknown state. */
const positions: readonly [pnl: number | null, state: 'closed' | 'open' | 'unknown'][] = [
  [5, 'closed'],
  [-5.001, 'closed'],
  [0, 'closed'],
  [null, 'closed'],
  [null, 'open'],
  [3, 'open'],
  [7, 'unknown'],
  [100, 'closed'],
  [-100.002, 'closed'],
];

test.each(Array.from({ length: positions.length + 1 }, (_, at) => at))(
  'all positions of an author are counted in a card and in a table (%s of them)',
  async (many) => {
    const { sandbox, home, run } = await openDesk();
    const [post] = thesesOf(sandbox);
    const postsOf = (name: string, some: typeof positions) =>
      some.map(([pnl, state], at) => ({
        ...{ ...post, id: `${name}${at}`, authorId: name, authorHandle: name, pnl: null },
        ...{ tokenAddress: `t${at}`, tokenSymbol: `T${at}` },
        ...{ realizedPnlUsd: pnl, unrealizedPnlUsd: pnl },
        closedAt: { closed: sandbox.clock.now(), open: null, unknown: undefined }[state],
      }));
    const own = [...positions.slice(many), ...positions.slice(0, many)].slice(0, many || 1);
    const file = home.write('posts.ndjson', [
      ...postsOf('ann', own),
      ...postsOf('bob', own.slice(0, 1)),
    ]);
    const options = { ...terminal, columns: 120 };
    const { stdout } = await run(['author', 'ann', '--from', file], options);
    const lineOf = (title: string) => new RegExp(`^  ${title} +(.*)$`, 'm').exec(stdout)?.[1] ?? '';
    const sizes = (state: string) => own.filter(([, one]) => one === state).length;
    const [closed = 0, ...parts] = [...lineOf('closed').matchAll(/\d+/g)].map(Number);
    expect(closed).toBe(sizes('closed'));
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(closed);
    expect(Number.parseInt(lineOf('open'), 10) || 0).toBe(sizes('open'));
    expect(Number.parseInt(lineOf('not known'), 10) || 0).toBe(sizes('unknown'));
    for (const [, share] of stdout.matchAll(/(\d+)% of the sum/g))
      expect(Number(share)).toBeLessThanOrEqual(100);
    expect(stdout).not.toContain('unknown running');
    const table = await run(['author', '--from', file], options);
    const row = table.lines().find((line) => line.startsWith('@ann')) ?? '';
    // No certificate vouches for the file, so there may be other posts.
    expect(row).toMatch(new RegExp(`^@ann +${own.length}\\+ `));
    const priced = own.filter(([pnl, state]) => state === 'closed' && pnl !== null).length;
    expect(row.includes(` of ${priced} `)).toBe(priced < closed);
  },
);

test('trdr author --compare prints what changed since an earlier output', async () => {
  const { sandbox, home, run } = await openDesk();
  const [handle = ''] = handlesOf(sandbox);
  const old = home.at('old.ndjson');
  await run(['author', handle, '--all', '--positions', '--out', old]);
  writeFileSync(old, readFileSync(old, 'utf8').repeat(2));
  expect((await run(['author', '--compare', old, '--all'])).stdout).toBe('');
  const open = thesesOf(sandbox).find(
    (post) => post.authorHandle === handle && post.authorId && post.closedAt === null,
  );
  const isOf = ({ authorId, tokenAddress, closedAt }: Thesis) =>
    authorId === open?.authorId && tokenAddress === open?.tokenAddress && closedAt === null;
  const closed = { closedAt: sandbox.clock.now(), realizedPnlUsd: 7 };
  for (const { id } of thesesOf(sandbox).filter(isOf))
    sandbox.world.theses().change(id, (post) => ({ ...post, ...closed }));
  const compared = await run(['author', '--compare', old, '--all'], {
    tty: { stderr: true },
  });
  expect(compared.records()).toEqual([
    expect.objectContaining({ change: 'closed', token: open?.tokenAddress, pnlUsd: 7 }),
  ]);
  expect(compared.said).toContain('1 closed since, 0 new, 0 changed, 0 no longer read');
  for (const flag of ['--open', '--closed']) {
    const ran = await run(['author', '--compare', old, '--all', flag]);
    const readAt = expect.any(Number);
    const same = compared.records().map((position) => ({ ...position, readAt }));
    expect([flag, ran.records(), ran.stderr]).toEqual([flag, same, '']);
  }
  const table = await run(['author', '--compare', old, '--all'], { ...terminal, columns: 100 });
  expect(table.lines()[0]).toMatch(/author +change +Δ PnL +token/);
  for (const fields of ['authorId', 'authorId,token,status,firstAt,lastAt,posts,closedAt']) {
    await run(['author', handle, '--all', '--positions', '--fields', fields, '--out', old]);
    expect((await run(['author', '--compare', old])).exitCode, fields).toBe(2);
  }
  writeFileSync(old, compared.stdout);
  const again = await run(['author', '--compare', old]);
  expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining('of --compare')]);
});

test.each([
  [['--limit', '20'], ['--all'], true],
  [['--all', '--closed', '--top', '3'], ['--all'], true],
  [['--all'], ['--all'], false],
  [['--all'], ['--all', '--token', 'ONE'], false],
  [['--all', '--token', 'ONE'], ['--all', '--token', 'ONE'], false],
])('trdr author --compare of %j with %j says what OLD might have had', async (old, now, isPart) => {
  const { sandbox, home, run } = await openDesk();
  const [handle = ''] = handlesOf(sandbox);
  const posts = thesesOf(sandbox).filter((post) => post.authorHandle === handle && post.authorId);
  const token = String(posts[0]?.tokenAddress);
  const [before, after] = [old, now].map((flags) =>
    flags.map((flag) => (flag === 'ONE' ? token : flag)),
  );
  const file = home.at('old.ndjson');
  await run(['author', handle, '--positions', ...(before ?? []), '--out', file]);
  const ran = await run(['author', '--compare', file, ...(after ?? [])]);
  const changes = ran.records().map(({ change }) => change);
  expect(new Set(changes)).toEqual(new Set(isPart ? ['new'] : []));
  const text = `${changes.length} of ${changes.length} new positions were posted before`;
  expect(ran.said.includes(text)).toBe(isPart);
});

test('trdr author --compare prints what is no longer read as it was, and when it was', async () => {
  const { sandbox, home, run } = await openDesk();
  const words = ['author', ...handlesOf(sandbox).slice(0, 1)];
  const file = join(home.path, 'old.ndjson');
  await run([...words, '--positions', '--all', '--out', file], { clock: ahead(-7_200_000) });
  const old = recordsIn(readFileSync(file, 'utf8'));
  const ran = await run([...words, '--compare', file, '--limit', '20', '--no-cache']);
  const left = ran.records();
  expect(left.length).toBeGreaterThan(0);
  for (const { change, ...position } of left) {
    expect(change).toBe('left');
    expect(old).toContainEqual(position);
  }
});

/** The posts in files of several kinds, in another order, some of them twice or as they were before. */
function scatter(dice: Rng, posts: readonly Thesis[], folder: string): string[] {
  const parts: Thesis[][] = [[], [], []];
  for (const post of posts) {
    dice.pick(parts).push(post);
    const older = { ...post, updatedAt: 1_600_000_000_000, closedAt: null, pnl: 1e9 };
    if (dice.chance(0.1)) dice.pick(parts).push(dice.chance(0.5) ? post : older);
  }
  const texts = parts.map((part) => part.sort(() => dice.int(3) - 1));
  const [plain = [], packed = [], array = []] = texts;
  const files = ['plain.ndjson', 'packed.ndjson.gz', 'array.json'].map((name) =>
    join(folder, name),
  );
  const [one = '', two = '', three = ''] = files;
  writeFileSync(one, linesOf(plain));
  writeFileSync(two, gzipSync(linesOf(packed)));
  writeFileSync(three, `\n ${JSON.stringify(array, undefined, 1)}`);
  return files;
}

describe('recorded theses in place of the service', () => {
  test(`give the same authors and lists, however they are spread over files (seed ${SEED})`, async () => {
    const { sandbox, home, run } = await openDesk();
    const handles = handlesOf(sandbox).slice(0, 4);
    const timed = thesesOf(sandbox).filter(({ platformCreatedAt: at }) => at !== null);
    const own = timed.filter(({ authorHandle }) => handles.includes(String(authorHandle)));
    const files = scatter(rngOf(SEED), own, home.path);
    const from = files.flatMap((file) => ['--from', file]);
    const free = (words: readonly string[]) =>
      run([...words, ...from], {
        env: { TRDR_API_KEY: '', TRDR_BASE_URL: '', TRDR_KEY_COMMAND: 'exit 1' },
      });
    const times = ['--since', '40d', '--until', '1d'];
    for (const flags of [[...times], [...times, '--positions'], ['--limit', '30', '--closed']]) {
      const served = await run(['author', ...handles, ...flags]);
      const recorded = await free(['author', ...handles, ...flags]);
      expect(recorded.stderr).toBe('');
      expect(bare(recorded.stdout)).toBe(bare(served.stdout));
    }
    const spent = receiptOf(home).cu;
    const users = handles.flatMap((handle) => ['--user', handle]);
    for (const flags of [
      [...times],
      [...times, '--sort', 'pnl', '--top', '9'],
      ['--all', '--count-by', 'tokenSymbol'],
    ]) {
      const recorded = await free(['thesis', 'list', ...users, ...flags]);
      const served = await run(['thesis', 'list', ...users, ...flags, '--max-cu', '1M']);
      expect(new Set(recorded.lines())).toEqual(new Set(served.lines()));
    }
    expect(spent).toBeGreaterThan(0);
    const [plain = ''] = files;
    const text = linesOf(own.slice(0, 30));
    writeFileSync(plain, text);
    const typed = await run('author --from - --sort posts', { stdin: text });
    expect(typed.stdout).toBe((await run(['author', '--from', plain, '--sort', 'posts'])).stdout);
    const replayed = await run('thesis tail --replay -', { stdin: text });
    expect(replayed.records()).toHaveLength(30);
  });

  test.each<[string, object, object]>([
    ['was closed', { closedAt: null }, { closedAt: 1_770_000_000_000 }],
    ['does not say whether it is open', { closedAt: undefined }, { closedAt: null }],
    ['has another result', { unrealizedPnlUsd: 5 }, { unrealizedPnlUsd: 40 }],
    ['has another trade', { authorTradeUsd: 5 }, { authorTradeUsd: 40 }],
    ['has another text', { thesis: 'one' }, { thesis: 'two' }],
  ])('have one last version, whatever was written when: it %s', async (_, ...versions) => {
    const { sandbox, home, run } = await openDesk();
    const [post] = thesesOf(sandbox).filter((each) => each.authorId && each.tokenAddress);
    const files = ['a', 'b'].map((name) => home.at(name));
    const told = new Set<string>();
    for (const order of [versions, versions.toReversed()]) {
      for (const [at, version] of order.entries())
        writeFileSync(files[at] ?? '', linesOf([{ ...post, closedAt: null, ...version }]));
      const from = files.flatMap((file) => ['--from', file]);
      const [listed] = (await run(['thesis', 'list', ...from])).records();
      const [position] = (await run(['author', '--positions', ...from])).records();
      expect(position).toMatchObject({
        closedAt: listed?.['closedAt'] ?? null,
        tradeUsd: listed?.['authorTradeUsd'] ?? null,
        pnlUsd: listed?.[listed?.['closedAt'] ? 'realizedPnlUsd' : 'unrealizedPnlUsd'] ?? null,
      });
      told.add(JSON.stringify([listed, { ...position, readAt: null }]));
    }
    expect(told.size).toBe(1);
    const [, last] = versions;
    if ('closedAt' in last) expect([...told][0]).toContain(`"closedAt":${last.closedAt}`);
  });

  test('say the same if their times are texts, as --times iso writes them', async () => {
    const { sandbox, home, run } = await openDesk();
    const [ms, iso] = [home.at('ms.ndjson'), home.at('iso.ndjson')];
    const own = thesesOf(sandbox).slice(0, 60);
    // An older version of each post is open, and was written before the other one.
    const older = own.map((post) => ({ ...post, closedAt: null, updatedAt: 1_600_000_000_000 }));
    writeFileSync(ms, linesOf([...own, ...older]));
    const textOf = (name: string, at: unknown) =>
      /At$/.test(name) && typeof at === 'number' ? new Date(at).toISOString() : at;
    writeFileSync(
      iso,
      readFileSync(ms, 'utf8').replaceAll(/.+/g, (line) =>
        JSON.stringify(JSON.parse(line), textOf),
      ),
    );
    const closed = own.filter(({ closedAt }) => closedAt !== null).length;
    expect(closed).toBeGreaterThan(0);
    for (const words of [
      ['author', '--from'],
      ['author', '--positions', '--closed', '--from'],
      ['token', String(own[0]?.tokenAddress), '--positions', '--from'],
      ['thesis', 'list', '--closed', '--all', '--fields', 'id', '--from'],
      ['thesis', 'tail', '--closed', '--fields', 'id', '--replay'],
      ['thesis', 'refresh', '--open-only', '--dry-run'],
    ]) {
      const [first, second] = [await run([...words, ms]), await run([...words, iso])];
      expect(first.stdout, words.join(' ')).not.toBe('');
      expect(second.stdout, words.join(' ')).toBe(first.stdout);
    }
    const earlier = home.at('positions.ndjson');
    await run(['author', '--from', ms, '--positions', '--times', 'iso', '--out', earlier]);
    const compared = await run(['author', '--from', ms, '--compare', earlier]);
    expect([compared.exitCode, compared.stdout]).toEqual([0, '']);
  });

  test('are all counted and sorted without a range, because that costs nothing', async () => {
    const { sandbox, home, run } = await openDesk();
    const own = thesesOf(sandbox).slice(0, 300);
    const file = home.write('theses.ndjson', own);
    for (const field of ['tokenSymbol', 'authorHandle', 'day']) {
      const counted = await run(['thesis', 'list', '--from', file, '--count-by', field]);
      const posts = counted.records().reduce((sum, record) => sum + Number(record['posts']), 0);
      expect([field, posts, counted.stderr]).toEqual([field, own.length, '']);
    }
    const trades = own.flatMap(({ authorTradeUsd: usd }) => usd ?? []).sort((a, b) => b - a);
    for (const limit of [[], ['--top', '3'], ['--limit', '30']]) {
      const best = await run(argv`thesis list --from ${file} --sort authorTradeUsd ${limit}`);
      const many = Number(limit[1] ?? 20);
      expect(best.records().map((post) => post['authorTradeUsd'])).toEqual(trades.slice(0, many));
    }
    // Without an order, the newest ones are the list.
    expect((await run(['thesis', 'list', '--from', file])).records()).toHaveLength(20);
  });

  test.each([['author'], [`token ${TOKEN}`], ['thesis list --all']])(
    'may be in files that a shell names behind --from: %s',
    async (line) => {
      const { sandbox, home, run } = await openDesk();
      const own = thesesOf(sandbox).slice(0, 300);
      const files = ['a.ndjson', 'b.json'].map((name) => home.at(name));
      writeFileSync(files[0] ?? '', linesOf(own.slice(0, 100)));
      writeFileSync(files[1] ?? '', JSON.stringify(own.slice(100)));
      const named = await run([...line.split(' '), '--from', ...files]);
      const flags = files.flatMap((file) => ['--from', file]);
      const apart = await run([...line.split(' '), ...flags]);
      expect([named.exitCode, named.stdout]).toEqual([0, apart.stdout]);
    },
  );

  test('tell posts apart whose ids are long numbers', async () => {
    const { sandbox, home, run } = await openDesk();
    const post = JSON.stringify(thesesOf(sandbox).find(({ authorId }) => authorId));
    const file = home.at('numbers.ndjson');
    const lines = ['9007199254740992', '9007199254740993'].map((id) =>
      post.replace(/"id":"[^"]*"/, `"id":${id}`),
    );
    writeFileSync(file, lines.join('\n'));
    for (const words of [['author'], ['token', JSON.parse(post).tokenAddress]])
      expect((await run([...words, '--from', file])).records()[0]?.['posts']).toBe(2);
  });

  test('are not lost without a word if they lack the ids of their authors', async () => {
    const { sandbox, home, run } = await openDesk();
    const [post] = thesesOf(sandbox).filter(({ authorHandle }) => authorHandle);
    const { authorId: _, ...unnamed } = { ...post, id: 'unnamed' };
    const file = home.write('unnamed.ndjson', [unnamed, { ...post, authorHandle: 'other' }]);
    const all = await run(['author', '--from', file]);
    expect(all.records()).toMatchObject([{ handle: 'other', posts: 1 }]);
    expect(all.said).toContain('left out 1 post without an author id');
    const user = ['--user', `@${post?.authorHandle}`];
    const listed = await run(['thesis', 'list', ...user, '--from', file]);
    expect(listed.records()).toMatchObject([{ id: 'unnamed' }]);
    expect((await run(['thesis', 'list', ...user, '--from', file, '--strict'])).exitCode).toBe(10);
  });

  test.each([['author'], ['thesis list --all']])('have several symbols: %s', async (line) => {
    const { sandbox, home, run } = await openDesk();
    const named = thesesOf(sandbox).filter(({ tokenSymbol, authorId }) => tokenSymbol && authorId);
    const [one, other] = [
      named[0],
      named.find((post) => post.tokenSymbol !== named[0]?.tokenSymbol),
    ];
    const file = home.write('symbols.ndjson', [{ ...one }, { ...other }]);
    const symbols = ['--token', `${one?.tokenSymbol},${other?.tokenSymbol}`, '--from', file];
    const ran = await run([...line.split(' '), ...symbols]);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    const posts = ran.records().reduce((sum, record) => sum + Number(record['posts'] ?? 1), 0);
    expect(posts).toBe(2);
    const unknown = await run(['author', '--token', 'NOSUCHTOKEN', '--from', file]);
    expect([unknown.exitCode, unknown.stderr]).toEqual([3, expect.stringContaining('the files')]);
  });

  test('leave out a line that is nested too deeply, and say so', async () => {
    const { sandbox, home, run } = await openDesk();
    const [post] = thesesOf(sandbox);
    const deep = { ...post, id: 'deep', segments: JSON.parse('['.repeat(300) + ']'.repeat(300)) };
    const file = home.write('deep.ndjson', [{ ...post }, deep]);
    for (const words of [
      ['thesis', 'list', '--all'],
      ['author', '--positions'],
    ]) {
      const ran = await run([...words, '--from', file]);
      expect(ran.records()).toHaveLength(1);
      expect(ran.said).toContain('skipped 1 line that is not a post');
    }
  });

  test('give each of very many authors once, whatever the case of an id is', async () => {
    const { sandbox, home, run } = await openDesk();
    const [post] = thesesOf(sandbox);
    const idOf = (at: number) => `${String(at).padStart(8, '0')}-8c94-4e2e-a551-213b7510858f`;
    const posts = Array.from({ length: AUTHORS }, (_, at) => [
      { ...post, id: `a${at}`, authorId: idOf(at), authorHandle: `h${at}` },
      { ...post, id: `b${at}`, authorId: idOf(at).toUpperCase(), authorHandle: `h${at}` },
    ]).flat();
    const file = home.write('many.ndjson', posts);
    const all = (await run(['author', '--from', file])).records();
    expect(all.map((record) => record['posts'])).toEqual(Array(AUTHORS).fill(2));
    expect(new Set(all.map((record) => record['handle'])).size).toBe(AUTHORS);
  });

  test('are complete as far as certificates vouch for them', async () => {
    const { sandbox, home, run } = await openDesk();
    const [handle = '', other = ''] = handlesOf(sandbox);
    const file = home.at('theses.ndjson');
    const ago = (days: number) => new Date(sandbox.clock.now() - days * 86_400_000).toISOString();
    const times = ['--since', ago(30), '--until', ago(4)];
    const completeIn = async (...words: string[]) =>
      (await run(['author', handle, '--from', file, ...words])).records()[0]?.['complete'];
    await run(['thesis', 'list', '--user', handle, ...times, '--out', file]);
    expect(await completeIn(...times)).toBe(true);
    expect(await completeIn('--since', ago(20), '--until', ago(5))).toBe(true);
    expect(await completeIn('--since', ago(40), '--until', ago(4))).toBe(false);
    expect(await completeIn()).toBe(false);
    expect(await completeIn(...times, '--limit', '2')).toBe(false);
    const watched = async (...words: string[]) =>
      (await run([...words, '--from', file, ...times], { tty: { stderr: true } })).said;
    expect(await watched('author', handle)).toContain(
      'trdr: certificates vouch for all posts from',
    );
    // The file has the posts of one author only.
    expect(await watched('token', SOL)).toContain('no certificates vouch for all posts');
    const listed = async (...words: string[]) => {
      const ran = await run(['thesis', 'list', '--from', file, '--strict', ...words]);
      expect(ran.stderr).toContain(
        ran.exitCode === 0 ? 'trdr: certificates vouch for all' : 'no certificates vouch for all',
      );
      return ran.exitCode;
    };
    expect(await listed('--user', handle, ...times)).toBe(0);
    expect(await listed('--user', handle, '--since', ago(40))).toBe(10);
    expect(await listed(...times)).toBe(10);
    expect(await listed('--user', handle, '--closed', ...times)).toBe(0);
    const unknown = await run(['thesis', 'list', '--from', file, '--user', other]);
    expect(unknown.exitCode).toBe(3);
    await run(['thesis', 'list', '--user', handle, '--all', '--out', file]);
    expect(await completeIn()).toBe(true);
    const served = await run(['author', handle, '--all']);
    const recorded = await run(['author', handle, '--from', file]);
    const withoutReading = (text: string) => text.replace(/,"readAt":\d+,"via":"\w+"/, '');
    expect(withoutReading(recorded.stdout)).toBe(withoutReading(served.stdout));
    const own = thesesOf(sandbox).filter(({ authorHandle }) => authorHandle === handle);
    writeFileSync(file, linesOf(own.slice(1)));
    expect(await completeIn(...times)).toBe(false);
  });
});
