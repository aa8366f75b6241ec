import { describe, expect, onTestFinished, test } from 'vitest';
import { some } from '../repeats.ts';
import { readText } from './feed.ts';
import { ahead, openDesk, recordsIn, runInProcess, withSandbox } from './harness.ts';

type Sandbox = Awaited<ReturnType<typeof withSandbox>>;
const list = (sandbox: Sandbox, ...flags: string[]) =>
  runInProcess(['thesis', 'list', ...flags], { sandbox });
const numbers = (records: readonly Record<string, unknown>[], field: string) =>
  records.map((record) => record[field]);
const byNumber = (one: unknown, other: unknown) => Number(one) - Number(other);

describe('trdr thesis list', () => {
  const atLeast = (field: string, least: number) => (post: Record<string, unknown>) =>
    Number(post[field]) >= least;
  test.each<[string, (post: Record<string, unknown>) => boolean, string, string]>([
    ['--open', ({ closedAt }) => closedAt === null, 'position', '{"open":true}'],
    ['--closed', ({ closedAt }) => typeof closedAt === 'number', 'position', '{"closed":true}'],
    ['--min-holdings 1k', atLeast('holdingsUsd', 1_000), 'holdings', '{"minHoldings":1000}'],
    ['--exclude E', ({ thesis }) => !/E/.test(String(thesis)), 'author', '{"exclude":"E"}'],
    ['--min-trade 1k', atLeast('authorTradeUsd', 1_000), 'trade', '{"minTrade":1000}'],
    ['--min-likes 20', atLeast('likeCount', 20), 'likes', '{"minLikes":20}'],
    [
      '--network SOL --network base',
      ({ tokenNetwork }) => ['sol', 'base'].includes(String(tokenNetwork)),
      'chain',
      '{"network":["base","sol"]}',
    ],
  ])('%s chooses in lists, tails and replays', async (line, isWanted, title, filters) => {
    const { sandbox, home } = await openDesk();
    const run = (args: string) => home.run(args, { sandbox });
    const textOf = (file: string) => readText(home.at(file));
    await run('thesis list --limit 60 --out all.ndjson');
    const wanted = recordsIn(textOf('all.ndjson')).filter(isWanted);
    expect([wanted.length > 2, wanted.length < 60]).toEqual([true, true]);
    const listed = await run(`thesis list ${line} --limit ${wanted.length} --out listed.ndjson`);
    expect(listed.exitCode, listed.stderr).toBe(0);
    expect(recordsIn(textOf('listed.ndjson'))).toEqual(wanted);
    const replayed = await run(`thesis tail --replay all.ndjson ${line}`);
    expect(replayed.records()).toEqual(wanted);
    const tailed = await run(`thesis tail --no-follow --backfill 60 ${line} --out tailed.ndjson`);
    expect(tailed.exitCode, tailed.stderr).toBe(0);
    expect(recordsIn(textOf('tailed.ndjson'))).toEqual(wanted.toReversed());
    for (const file of ['listed.ndjson', 'tailed.ndjson'])
      expect(JSON.stringify(JSON.parse(textOf(`${file}.trdr`)).filters)).toBe(filters);
    const table = await run(`thesis list ${line} --limit 3 -o table`);
    expect(table.stdout.split('\n')[0]).toMatch(new RegExp(`\\b${title}\\b`));
  });

  const countable = [
    ['thesis list', 'tokenSymbol', 'authorId'],
    ['thesis list', 'day', 'authorId'],
    ['thesis list', 'authorHandle', 'authorId'],
    ['launchpad callouts', 'coinSymbol', 'wallet'],
    ['launchpad callouts', 'day', 'wallet'],
  ] as const;
  test.each(some(countable, 3))('%s --count-by %s costs a list', async (name, field, author) => {
    const { sandbox, home } = await openDesk();
    const run = (...flags: string[]) =>
      home.run([...name.split(' '), '--since', '1d', '--utc', ...flags], { sandbox });
    const posts = (await run()).records();
    const spent = sandbox.meter().totalUnits;
    const groups = new Map<unknown, Record<string, unknown>[]>();
    for (const post of posts) {
      const time = new Date(Number(post['platformCreatedAt'] ?? post['createdAt']));
      const value = field === 'day' ? time.toISOString().slice(0, 10) : (post[field] ?? null);
      groups.set(value, [...(groups.get(value) ?? []), post]);
    }
    const expected = [...groups].map(([value, group]) => ({
      [field]: value,
      posts: group.length,
      authors: new Set(numbers(group, author).filter((by) => typeof by === 'string')).size,
    }));
    const before = sandbox.meter().totalUnits;
    const counted = await run('--count-by', field);
    const byValue = (one: object, other: object) =>
      JSON.stringify(one).localeCompare(JSON.stringify(other));
    expect(counted.records().toSorted(byValue)).toEqual(expected.toSorted(byValue));
    expect(sandbox.meter().totalUnits - before).toBe(spent);
    const order = numbers(counted.records(), field === 'day' ? 'day' : 'posts');
    const isDay = field === 'day';
    const descending = isDay
      ? order.toSorted().toReversed()
      : order.toSorted(byNumber).toReversed();
    expect(order).toEqual(descending);
    const top = await run('--count-by', field, '--top', '2');
    expect(top.records()).toEqual(counted.records().slice(0, 2));
    expect(top.stderr).toBe('');
    const csv = await run('--count-by', field, '--fields', 'brief', '--reverse', '-o', 'csv');
    expect(csv.lines()[0]).toBe(`${field},posts,authors`);
    expect(csv.lines()).toHaveLength(1 + expected.length);
    const table = await run('--count-by', field, '-o', 'table');
    expect(table.lines()).toHaveLength(2 + expected.length);
    await run('--count-by', field, '--out', 'counts.ndjson');
    const text = readText(home.at('counts.ndjson'));
    expect(recordsIn(text)).toEqual(counted.records());
    // Counts prove nothing about the posts.
    expect(readText(home.at('counts.ndjson.trdr'))).toBe('');
  });

  test('--count-by sorts a whole range by its counts, and checks the fields first', async () => {
    const sandbox = await withSandbox();
    const words = ['--count-by', 'tokenSymbol', '--since', '2d'];
    const all = (await list(sandbox, ...words)).records();
    const best = await list(sandbox, ...words, '--sort', 'authors', '--top', '3');
    const authors = numbers(all, 'authors').map(Number);
    const most = await list(sandbox, '--all', ...words, '--limit', '3', '--reverse');
    expect(most.records()).toEqual(all.toReversed().slice(0, 3));
    expect(numbers(best.records(), 'authors')).toEqual(
      authors.toSorted((one, other) => other - one).slice(0, 3),
    );
    const spent = sandbox.meter().totalUnits;
    for (const wrong of [
      ['--sort', 'pnl'],
      ['--fields', 'id'],
    ]) {
      const ran = await list(sandbox, ...words, ...wrong);
      expect([ran.exitCode, ran.error()['code']]).toEqual([2, 'USAGE']);
    }
    expect(sandbox.meter().totalUnits).toBe(spent);
  });

  test('--count-by without a range says that it counted only the newest posts', async () => {
    const sandbox = await withSandbox();
    const ran = await list(sandbox, '--count-by', 'authorHandle', '--top', '3');
    expect(ran.records()).toHaveLength(3);
    expect(ran.stderr).toContain('counted only the newest 20 theses');
    expect(sandbox.meter().totalUnits).toBe(200);
    const few = await withSandbox({ theses: 20 });
    expect((await list(few, '--count-by', 'authorHandle', '--top', '3')).stderr).toBe('');
  });

  test('rejects --open with --closed, and filters callouts by their chain', async () => {
    const { sandbox, run } = await openDesk();
    expect((await list(sandbox, '--open', '--closed')).exitCode).toBe(2);
    const callouts = ['launchpad', 'callouts', '--network', 'SOL', '--limit', '30'];
    const found = await run(callouts);
    expect(numbers(found.records(), 'chain')).toEqual(Array.from({ length: 30 }, () => 'sol'));
  });

  test('sorts by a field from the largest, in reverse from the smallest, with missing values last', async () => {
    const sandbox = await withSandbox();
    const page = (await list(sandbox, '--limit', '40')).records();
    const known = numbers(page, 'holdingsUsd').filter((value) => value !== null);
    const missing = Array(page.length - known.length).fill(null);
    const sorted = async (...flags: string[]) => {
      const ran = await list(sandbox, '--limit', '40', '--sort', 'holdingsUsd', ...flags);
      return numbers(ran.records(), 'holdingsUsd');
    };
    const up = known.toSorted(byNumber);
    expect(await sorted()).toEqual([...up.toReversed(), ...missing]);
    expect(await sorted('--reverse')).toEqual([...up, ...missing]);
    expect((await list(sandbox, '--limit', '40', '--reverse')).records()).toEqual(
      page.toReversed(),
    );
  });

  test('takes the symbol of a token that an earlier list printed; an unknown symbol costs nothing', async () => {
    const { sandbox, run } = await openDesk();
    const unknown = await run('thesis list --token NOSUCH');
    expect([unknown.exitCode, unknown.error()['code']]).toEqual([3, 'UNKNOWN_SYMBOL']);
    expect(sandbox.log).toEqual([]);
    const { tokenSymbol, tokenAddress } = (await run('thesis list')).records()[0] ?? {};
    const before = sandbox.meter().totalUnits;
    const token = ['--token', `$${String(tokenSymbol).toLowerCase()}`, '-o', 'ndjson'];
    const found = await run(['thesis', 'list', ...token, '--limit', '1']);
    expect(found.records()[0]?.['tokenAddress']).toBe(tokenAddress);
    expect(sandbox.meter().totalUnits - before).toBe(200);
    const tail = await run(['thesis', 'tail', ...token, '--no-follow', '--backfill', '1']);
    expect(tail.records()[0]?.['tokenAddress']).toBe(tokenAddress);
    const requests = sandbox.log.length;
    const misspelled = await run(`thesis tail --token ${tokenSymbol}Q --duration 1s`);
    expect(misspelled.exitCode).toBe(3);
    expect(misspelled.error()['hint']).toContain(`$${tokenSymbol}`);
    expect(sandbox.log.length).toBe(requests);
  });

  test('lists the candidates when a symbol belongs to several tokens', async () => {
    const { sandbox, run } = await openDesk();
    const twins = [
      'So11111111111111111111111111111111111111112',
      '29C1XCzXZZGnZiBqALZtNj5sJw9yzpPqPzQmCNKsjzFL',
    ];
    for (const tokenAddress of twins)
      sandbox.post({ ...sandbox.post(), id: tokenAddress, tokenAddress, tokenSymbol: 'TWIN' });
    await run('thesis list --limit 5');
    const before = sandbox.log.length;
    const { exitCode, stderr } = await run('thesis list --token twin');
    expect(sandbox.log.length).toBe(before);
    expect(exitCode).toBe(2);
    for (const address of twins) expect(stderr).toContain(address);
  });

  test.each(['ndjson', 'json', 'csv'])('prints the best of the range, as %s', async (format) => {
    const sandbox = await withSandbox();
    const since = ['--since', '2h'];
    const range = (await list(sandbox, ...since)).records();
    const ids = [...range]
      .sort((one, other) => Number(other['authorTradeUsd']) - Number(one['authorTradeUsd']))
      .map(({ id }) => String(id));
    for (const name of ['--limit', '--top']) {
      const flags = [...since, '--sort', 'authorTradeUsd', name, '3', '-o', format];
      const { stdout, stderr } = await list(sandbox, ...flags);
      const printed = ids.filter((id) => stdout.includes(id));
      expect(new Set(printed)).toEqual(new Set(ids.slice(0, 3)));
      expect(stderr).not.toContain('before --since');
    }
  });

  test('says that a limit ended the list before --since', async () => {
    const sandbox = await withSandbox();
    const all = (await list(sandbox, '--since', '2h')).records();
    const cut = await list(sandbox, '--since', '2h', '--limit', '3');
    const third = new Date(Number(all[2]?.['platformCreatedAt'])).toISOString();
    expect(cut.stderr).toContain(`--limit ended the list at ${third}, before --since`);
    const whole = await list(sandbox, '--since', '2h', '--limit', `${all.length + 1}`);
    expect(whole.stderr).toBe('');
    const both = await list(sandbox, '--all', '--limit', '3');
    expect(both.exitCode).toBe(2);
  });

  test('says on a terminal, or to an agent, where a list continues that its limit has cut', async () => {
    const sandbox = await withSandbox({ theses: 30 });
    const run = (limit: number, options: object) =>
      runInProcess(['thesis', 'list', '--limit', `${limit}`, '-o', 'ndjson'], {
        sandbox,
        ...options,
      });
    const all = (await run(30, {})).records();
    const agent = { env: { CLAUDECODE: '1' } };
    for (const [limit, options] of [
      [7, { tty: { stderr: true } }],
      [20, agent],
    ] as const)
      expect((await run(limit, options)).stderr).toContain(
        `more theses exist: --before ${all[limit - 1]?.['id']}`,
      );
    expect((await run(30, agent)).stderr).toBe('');
    expect((await run(7, {})).stderr).toBe('');
  });

  test.each<[string, string, number]>([
    ['thesis list --network solana', 'no "solana" among 20 theses; seen: sol', 200],
    ['thesis list --symbol NOSUCH --all', 'no "NOSUCH" among 20 theses; seen: ', 200],
    ['thesis list --symbol NOSUCH,NOTHING --since 2d', 'no "NOSUCH" or "NOTHING" among 20', 200],
    ['thesis list --network solana --count-by tokenSymbol --all', 'no "solana" among', 200],
    ['launchpad callouts --network solana', 'no "solana" among 25 callouts; seen: sol', 10],
  ])('a value that no post has costs one page, and is named: %s', async (line, text, cost) => {
    const sandbox = await withSandbox();
    const ran = await runInProcess(line, { sandbox });
    expect([ran.exitCode, ran.error()['code'], ran.stdout]).toEqual([3, 'UNSEEN_VALUE', '']);
    expect(ran.error()['message']).toContain(text);
    expect(sandbox.meter().totalUnits).toBe(cost);
    const [, place = ''] = /add --before (\S+)$/.exec(String(ran.error()['hint'])) ?? [];
    const further = [...line.split(' '), '--before', place, '--max-cu', `${2 * cost}`];
    expect((await runInProcess(further, { sandbox })).exitCode).toBe(6);
    expect(sandbox.meter().totalUnits).toBe(3 * cost);
  });

  test.each([
    ['whois 9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', '/v2/user/handle/{handle}'],
    ['pnl 9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM', '/v2/user/handle/{handle}/pnl'],
    ['thesis list --user zed', '/v2/thesis/user/{id}?limit=20'],
    ['author zed --limit 20', '/v2/thesis/user/{id}?limit=20'],
    ['launchpad callers zed', '/v2/launchpad/thesis/wallet/{wallet}'],
    ['launchpad callers --board weekly', '/v2/launchpad/thesis/wallet/{wallet}'],
    ['launchpad board --who', '/v2/user/id/{id}'],
    ['launchpad board --who', '/v2/launchpad/user/wallet/{wallet}'],
  ])('a dry run invents no id or address: %s', async (line, path) => {
    const { records } = await runInProcess(`${line} --dry-run`, { sandbox: await withSandbox() });
    expect(records().map((call) => call['path'])).toContain(path);
  });

  test('a value that one of several posts, or this machine, has seen is read on for', async () => {
    const { sandbox, run } = await openDesk();
    const networks = await run('thesis list --network sol,solana --limit 2');
    expect(numbers(networks.records(), 'tokenNetwork')).toEqual(['sol', 'sol']);
    const both = await run(['thesis', 'list', '--network', 'sol, solana', '--limit', '30']);
    expect([both.exitCode, both.records().length]).toEqual([0, 30]);
    expect(both.stderr).toContain('no "solana" among 20 theses; seen: ');
    sandbox.post({ ...sandbox.post(), id: 'rare', tokenSymbol: 'RARE' });
    expect((await run('thesis list --limit 1')).records()[0]?.['id']).toBe('rare');
    for (let posts = 0; posts < 30; posts++) sandbox.post();
    const known = await run('thesis list --symbol rare --limit 1');
    expect([known.exitCode, numbers(known.records(), 'id')]).toEqual([0, ['rare']]);
    const few = await withSandbox({ theses: 15 });
    const whole = await list(few, '--network', 'solana');
    expect([whole.exitCode, whole.stdout]).toEqual([0, '']);
    expect(whole.stderr).toContain('no "solana" among 15 theses');
  });

  test('--token reads the address in a link, and --user the wallet or handle', async () => {
    const { sandbox, run } = await openDesk();
    const [post] = (await run('thesis list --network sol --limit 1')).records();
    const token = String(post?.['tokenAddress']);
    for (const link of [`https://solscan.io/token/${token}#holders`, `pump.fun/coin/${token}`]) {
      const ran = await run(['thesis', 'list', '--token', link, '--limit', '1']);
      expect(ran.records(), ran.stderr).toMatchObject([{ tokenAddress: token }]);
      expect((await run(['whois', link])).exitCode).toBe(2);
    }
    const { id, solanaAddress } = sandbox.world.user('mira') ?? {};
    await run('whois mira');
    const links = ['https://x.com/mira/status/1', `https://solscan.io/account/${solanaAddress}`];
    for (const link of links) {
      const ran = await run(['whois', link]);
      expect(ran.records()).toMatchObject([{ subject: link, id }]);
      expect(ran.stderr).toContain(`${link} is read as the `);
    }
  });

  test.each(['--via ws', '--via poll --lag 1s', '--replay posts.ndjson'])(
    'a tail names a value that its first posts do not have: %s',
    async (source) => {
      const { sandbox, home, run } = await openDesk({ rate: 0 });
      const file = home.at('posts.ndjson');
      await run(['thesis', 'list', '--limit', '30', '--out', file]);
      const ending = new AbortController();
      const timer = setInterval(() => sandbox.post(), 20);
      onTestFinished(() => clearInterval(timer));
      const said: string[] = [];
      const words = ['thesis', 'tail', ...source.split(' '), '--network', 'solana,base', '--yes'];
      const ran = await run(words, {
        interrupt: ending.signal,
        onStderr(text) {
          said.push(text);
          if (text.includes('no "solana" among')) ending.abort();
        },
      });
      expect(said.join('')).toMatch(/no "solana" among 20 posts; seen: \w+/);
      expect(new Set(numbers(ran.records(), 'tokenNetwork'))).not.toContain('sol');
    },
  );

  test('stops after 20 pages without a match, and states how to continue', async () => {
    const sandbox = await withSandbox();
    const line = 'thesis list --until 2020-01-01 --limit 5';
    const { exitCode, stdout, stderr } = await runInProcess(line, { sandbox });
    expect([exitCode, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(
      /stopped after 20 pages in a row without a match \(4,000 CU\).*--before/,
    );
    expect(sandbox.meter().totalUnits).toBe(4_000);
  });
});

describe('trdr launchpad board', () => {
  test('shows the first entries, and only the requested changes', async () => {
    const sandbox = await withSandbox();
    const board = (...flags: string[]) =>
      runInProcess(['launchpad', 'board', ...flags], { sandbox });
    const all = (await board('--compare', '1d')).records();
    expect((await board('--top', '7')).records().map(({ rank }) => rank)).toEqual([
      1, 2, 3, 4, 5, 6, 7,
    ]);
    const climbers = (await board('--compare', '1d', '--only', 'up,new')).records();
    expect(climbers).toEqual(all.filter(({ change }) => change === 'up' || change === 'new'));
    const changed = (await board('--compare', '1d', '--changed')).records();
    expect(changed).toEqual(all.filter(({ change }) => change !== 'same'));
    expect(climbers.length).toBeGreaterThan(0);
  });

  test('shows and compares the wallets of a file, and says who is not on it', async () => {
    const { sandbox, run } = await openDesk();
    const board = (stdin: string, ...flags: string[]) =>
      run(['launchpad', 'board', '--wallets', '-', ...flags], { stdin });
    const all = (await run('launchpad board --compare 7d')).records();
    const left = all.find(({ change }) => change === 'left');
    const rows = [all[40], all[3], left];
    const absent = '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6';
    const wallets = [...rows.map((row) => row?.['wallet']), absent];
    const spent = sandbox.meter().totalUnits;
    const ran = await board(wallets.join('\n'), '--compare', '7d');
    expect(ran.records()).toEqual([all[3], all[40], left]);
    expect(ran.said).toContain(`not on the leaderboard, 2 of 4 wallets: ${left?.['wallet']}`);
    expect(sandbox.meter().totalUnits).toBe(spent + 20);
    const top = await board(wallets.join('\n'), '--top', '10', '-q');
    expect([top.records().map(({ rank }) => rank), top.stderr]).toEqual([[4], '']);
    const table = await board(`name,address\nmira,${all[0]?.['wallet']}`, '--column', 'address');
    expect(table.records().map(({ rank }) => rank)).toEqual([1]);
    const named = (await board(wallets.join('\n'), '--who', '--dry-run')).records();
    expect(named.slice(1).map(({ times }) => times)).toEqual([4, 4, 8]);
    for (const wrong of ['# nobody', 'wallet,name\n'])
      expect((await board(wrong)).exitCode).toBe(2);
    expect(sandbox.meter().totalUnits).toBe(spent + 40);
  });

  test('shows the wallets of names that were looked up before, and asks for those of others', async () => {
    const { sandbox, run } = await openDesk();
    const { solanaAddress: wallet } = (await run('whois mira')).records()[0] ?? {};
    const spent = sandbox.meter().totalUnits;
    const board = (stdin: string) => run('launchpad board --wallets -', { stdin });
    const unknown = await board('mira\nsolwolf\n@quantum');
    expect([unknown.exitCode, unknown.said]).toEqual([
      2,
      expect.stringContaining('the wallets of solwolf @quantum are not known here'),
    ]);
    expect(sandbox.meter().totalUnits).toBe(spent);
    const named = await board(`mira\n8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6`);
    const same = await board(`${wallet}\n8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6`);
    expect([named.exitCode, named.stdout]).toEqual([0, same.stdout]);
    expect(named.said).toBe(same.said);
    expect(sandbox.meter().totalUnits).toBe(spent + 20);
    // Who has a wallet can change, so an old answer is not used without a word.
    const clock = ahead(12 * 86_400_000);
    const old = await run('launchpad board --wallets -', { stdin: 'mira', clock });
    expect(old.said).toContain('the wallets of names were read up to 12d ago');
  });
});
