import { describe, expect, onTestFinished, test } from 'vitest';
import { isRecord } from '../../src/base/json-object.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { some } from '../repeats.ts';
import { manualClock } from '../sandbox/clock.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/service.ts';
import { openDesk, runInProcess, withSandbox } from './harness.ts';

// The description leaves some questions open. The results are the same whatever the answer is.

const NOW = Date.UTC(2026, 4, 15, 12);

type Fields = Record<string, unknown>;
type Reading = NonNullable<SandboxOptions['reading']>;

const without = (record: Fields, ...names: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

/** A reading of the records that have a list of this name. */
const withList =
  (name: string, change: (record: Fields, list: Fields[]) => unknown): Reading =>
  (record) =>
    isRecord(record) && Array.isArray(record[name]) ? change(record, record[name]) : record;
const pages = (change: (page: Fields, items: Fields[]) => unknown) => withList('items', change);
const batches = (change: (batch: Fields, entries: Fields[]) => unknown): Reading => {
  const read = withList('entries', change);
  return (record, endpoint) => (endpoint === 'users.pnl' ? read(record, endpoint) : record);
};
const accounts =
  (change: (me: Fields) => unknown): Reading =>
  (record, endpoint) =>
    endpoint === 'me' && isRecord(record) ? change(record) : record;

/** The first rows of a page, as of a service whose pages never have more. */
const rowsOf = (most: number) =>
  pages((page, items) => {
    if (items.length <= most) return page;
    const shown = items.slice(0, most);
    const nextBefore = shown.at(-1)?.['id'];
    return { ...page, items: shown, count: most, hasMore: true, nextBefore };
  });

const WALLET = '0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4';
const TOKENS = [
  '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg',
  '8NkSMaF4q87Ar2X3h9aagRT5zMSXj6coGFT35NrzHfpm',
];
const NOBODY = '11111111111111111111111111111111';
const feed = [
  'thesis list --limit 130',
  'thesis list --user mira --limit 30',
  'thesis tail --via poll --backfill 45 --count 45 --duration 10m',
];
const several = ['mira', 'solwolf', '0xMert', 'evil', 'tokyo', 'quantumhawk']
  .map((handle) => `--user ${handle}`)
  .join(' ');
const byAuthors = [
  'thesis list --user mira --since 20d',
  `thesis list ${several} --limit 40`,
  `thesis list --user mira --user solwolf --token ${TOKENS[0]} --token ${TOKENS[1]}`,
  'thesis tail --via poll --user mira --backfill 20 --duration 2m',
  `thesis tail --via poll ${several} --backfill 20 --duration 2m`,
];
const callouts = ['launchpad callouts --limit 60'];
const questions = [
  'author mira --limit 40',
  'author mira --limit 40 --positions',
  `token ${TOKENS[0]} --limit 40`,
  'launchpad callers --board weekly --top 3',
];
const batch = ['pnl mira solwolf nobody_here'];
const resolve = ['resolve throttled'];
const me = ['me'];
const wallets = [`whois ${WALLET}`, `launchpad user ${NOBODY}`];
/** What is read in pages. */
const inPages = [...feed, ...callouts, ...questions];
const all = [
  ...[...inPages, ...batch, ...resolve, ...me, ...wallets],
  'whois mira solwolf nobody_here',
  'resolve mira',
  'pnl mira',
  'launchpad board --compare 7d',
];

type Row = [what: string, options: SandboxOptions, lines: readonly string[]];
const readings: Row[] = [
  ['answers are wrapped', { envelope: 'wrapped' }, all],
  // A PnL that is a text is not known, so it is in no sum.
  ['numbers are texts', { reading: asTexts }, all.filter((line) => !questions.includes(line))],
  ['a page has at most 20 rows', { reading: rowsOf(20) }, [...feed, ...questions]],
  ['a page has at most 7 rows', { reading: rowsOf(7) }, inPages],
  ['count is that of the limit', { reading: pages((page) => ({ ...page, count: 100 })) }, inPages],
  ['count is 0', { reading: pages((page) => ({ ...page, count: 0 })) }, inPages],
  ...[['hasMore'], ['nextBefore'], ['hasMore', 'nextBefore', 'count', 'updatedAt']].map(
    (names): Row => [
      `pages lack ${names.join(', ')}`,
      { reading: pages((page) => without(page, ...names)) },
      inPages,
    ],
  ),
  [
    'the last page has nextBefore too',
    { reading: pages((page, items) => ({ ...page, nextBefore: items.at(-1)?.['id'] ?? null })) },
    inPages,
  ],
  [
    'posts lack the ids of their authors',
    {
      reading: pages((page, items) => ({
        ...page,
        items: items.map((post) => without(post, 'authorId')),
      })),
    },
    byAuthors,
  ],
  [
    'a 202 states no wait',
    {
      reading: (record) =>
        isRecord(record) && record['pending'] ? without(record, 'retryAfterSeconds') : record,
    },
    resolve,
  ],
  [
    'me has only the fields that are named',
    { reading: accounts((it) => without(it, 'account', 'plan', 'scopes')) },
    [...me, ...batch],
  ],
  [
    'plan and scopes are in the account of me',
    {
      reading: accounts(({ account, plan, scopes, ...it }) => ({
        account: { ...(isRecord(account) ? account : {}), plan, scopes },
        ...it,
      })),
    },
    [...me, ...batch],
  ],
  ['the plan of me is a text', { reading: accounts((it) => ({ ...it, plan: 'growth' })) }, me],
  [
    'the entries of a batch are in another order',
    { reading: batches((it, entries) => ({ ...it, entries: entries.toReversed() })) },
    batch,
  ],
  [
    'a batch has handles in another case',
    {
      reading: batches((it, entries) => ({
        ...it,
        entries: entries.map((entry) => ({ ...entry, handle: upper(entry['handle']) })),
        missing: [it['missing']].flat().map((handle) => `@${upper(handle)}`),
      })),
    },
    batch,
  ],
  [
    'a wallet without an account is a missing resource',
    { faults: 'NOT_FOUND@launchpad.user' },
    wallets,
  ],
];

/** How many lines of a reading run in `npm test`: each reading has others, so that most lines run under some reading. */
const MOST_LINES = 4;
const linesOf = (lines: readonly string[], reading: number): readonly string[] => {
  const first = (reading * MOST_LINES) % lines.length;
  return some([...lines.slice(first), ...lines.slice(0, first)], MOST_LINES);
};

const upper = (text: unknown) => String(text).toUpperCase();

function asTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asTexts);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asTexts(inner)]));
  return typeof value === 'number' ? String(value) : value;
}

/** What a row is about, and what trdr made of it, which no reading changes. */
const nameOf = (row: Fields) =>
  [
    ...['subject', 'id', 'wallet', 'found', 'token', 'status', 'complete', 'beside', 'closed'],
    ...['open', 'authors', 'devs', 'days', 'callouts', 'heldMs', 'medianMultiple', 'multiples'],
  ].map((name) => row[name]);

const startWorld = async (options: SandboxOptions) => {
  const rates = { ratePerMinute: 100_000, burstPerSecond: 100_000 };
  const world = { traders: 60, theses: 600, ...rates, clock: manualClock(NOW) };
  return withSandbox({ ...world, ...options });
};

async function resultOf(sandbox: Sandbox, line: string) {
  const isPaid = !/^(me|thesis tail)/.test(line);
  const ran = await runInProcess(`${line}${isPaid ? ' --yes' : ''} -o ndjson`, {
    sandbox,
    clock: virtualClock(NOW),
    differs: true,
  });
  return [line, ran.exitCode, ran.records().map(nameOf)];
}

describe('a question that the description leaves open', () => {
  const usual = new Map<string, Promise<unknown[]>>();
  /** The result where no question is open, which is the same for each reading. */
  const usualOf = async (line: string) => {
    const result = usual.get(line) ?? resultOf(await startWorld({}), line);
    usual.set(line, result);
    return result;
  };

  test.each(readings.map((row, at) => [...row, at] as const))(
    'changes no result: %s',
    async (_, options, lines, at) => {
      const other = await startWorld(options);
      for (const line of linesOf(lines, at))
        expect(await resultOf(other, line)).toEqual(await usualOf(line));
    },
  );

  test.each([
    ['the handle', false, false],
    ['the id of an author who was read before', true, true],
    ['the id alone, with a notice', true, false],
  ])('a frame without the id of its author is matched by %s', async (_, isById, isKnown) => {
    const { sandbox, run } = await openDesk({ traders: 60, theses: 20 });
    const id = sandbox.world.user('mira')?.id ?? '';
    if (isKnown) await run('whois mira');
    let posts = 0;
    const post = (authorHandle: string) =>
      sandbox.post({
        ...{ id: `${posts++}`, authorHandle, thesis: 'Up.' },
        platformCreatedAt: sandbox.clock.now(),
      });
    const timer = setInterval(() => ['solwolf', 'Mira'].forEach(post), 20);
    onTestFinished(() => clearInterval(timer));
    const line = `thesis tail --user ${isById ? id : 'mira'} --via ws --count 2 -o ndjson`;
    const leftOut = `the handle of ${id} is not known`;
    const ending = new AbortController();
    const isLost = isById && !isKnown;
    const onStderr = (text: string) => {
      if (isLost && text.includes(leftOut)) ending.abort();
    };
    const ran = await run(line, { onStderr, interrupt: ending.signal });
    const handles = isLost ? [] : ['Mira', 'Mira'];
    expect(ran.records().map((row) => row['authorHandle'])).toEqual(handles);
    expect(ran.said.includes(leftOut)).toBe(isLost);
  });
});

describe('what people write is sent in the form that the description promises to read', () => {
  const idOf = ({ world }: Sandbox) => world.user('mira')?.id ?? '';
  const tokenOf = ({ world }: Sandbox) =>
    world.theses().slice(undefined, 500, NOW, (post) => /^0x/.test(post.tokenAddress ?? ''))
      ?.items[0]?.tokenAddress ?? '';
  const withPrefix = (address: string) => `0X${address.slice(2).toUpperCase()}`;
  type LineOf = (of: Sandbox) => string;
  test.each<[what: string, usual: LineOf, other: LineOf]>([
    ['a user id', (of) => `whois ${idOf(of)}`, (of) => `whois ${upper(idOf(of))}`],
    [
      'an author',
      (of) => `thesis list --user ${idOf(of)}`,
      (of) => `thesis list --user ${upper(idOf(of))}`,
    ],
    [
      'a token',
      (of) => `thesis list --token ${tokenOf(of)}`,
      (of) => `thesis list --token ${withPrefix(tokenOf(of))}`,
    ],
    ['a wallet', () => `whois ${WALLET}`, () => `whois ${withPrefix(WALLET)}`],
    ['a handle', () => 'whois mira', () => 'whois @@MIRA'],
    ['a handle of a batch', () => 'pnl mira tokyo', () => "pnl @@MIRA ' @Tokyo'"],
    [
      'a time',
      () => 'launchpad board --at 2026-05-01T00:00:00Z',
      () => 'launchpad board --at 2026-05-01T02:00+02:00',
    ],
  ])('%s', async (_, usualOf, otherOf) => {
    const sandbox = await startWorld({});
    const rowsOf = async (line: string) => {
      const ran = await runInProcess(`${line} --yes -o ndjson`, {
        sandbox,
        clock: virtualClock(NOW),
      });
      return [ran.exitCode, ran.records().map((row) => without(row, 'subject'))];
    };
    const usual = await rowsOf(usualOf(sandbox));
    expect(usual[0]).toBe(0);
    expect(await rowsOf(otherOf(sandbox))).toEqual(usual);
  });

  test('a launchpad name that cannot be a handle does not end the lookup of its wallet', async () => {
    const sandbox = await startWorld({});
    const { solanaAddress } = sandbox.world.user('username_only') ?? {};
    const account = sandbox.world.account(solanaAddress ?? '');
    if (account) Object.assign(account, { xUsername: null, username: '龍之交易員' });
    const ran = await runInProcess(['whois', String(solanaAddress), '--yes', '-o', 'ndjson'], {
      sandbox,
      clock: virtualClock(NOW),
    });
    expect([ran.exitCode, ran.records()]).toMatchObject([0, [{ handle: 'username_only' }]]);
  });
});
