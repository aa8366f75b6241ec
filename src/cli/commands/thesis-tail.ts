import * as z from 'zod/mini';
import { once } from '../../base/calls.ts';
import { textOf } from '../../base/json-object.ts';
import { cu, SOCKET_TOKENS_MAX, THESIS_BLOCK } from '../../contract/limits.ts';
import { CooledConfluence } from '../../contract/records/confluence.ts';
import { CooledThesis } from '../../contract/records/thesis.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import {
  type ThesisScope,
  thesisCall,
  thesisScopes,
  thesisSource,
} from '../../core/pages/feeds.ts';
import { createFilter, normalToken } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { liveThesisView, thesisView } from '../../output/views/thesis.ts';
import { thesisConfluence } from '../../tail/confluence.ts';
import type { TailFiles } from '../../tail/file/position-file.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { sourcesOf, thesisFeedName } from '../../tail/source.ts';
import { arePollsCheaper } from '../../tail/spend/stream-or-poll.ts';
import type { GapFilling } from '../../tail/stored/fill-gap.ts';
import { conditionsOf, type FilterConditions, thesisFilterOptions } from '../args/list-flags.ts';
import { type GivenFlags, inGroup, list } from '../args/option.ts';
import { text } from '../args/values.ts';
import { command } from '../command.ts';
import { UnseenValues } from '../lists/unseen-values.ts';
import {
  type AuthorLookup,
  type KnownAuthor,
  knownAuthors,
  planLookup,
  userIds,
} from '../lookup/author-lookup.ts';
import { AuthorNotes } from '../lookup/author-notes.ts';
import { authorOptions, readAuthors, thesisCalls } from '../lookup/authors.ts';
import { tokenAddresses } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';
import { filtersOf, noticeTimeout, severalText, showingFilters } from '../tail/filters.ts';
import {
  checkTail,
  replayArgument,
  storeOptions,
  type TailFlags,
  tailOptions,
  withFiles,
} from '../tail/flags.ts';
import { notingFeeder, notingFilter } from '../tail/noting-feeder.ts';
import { type OutputPlan, type ShownPosts, shownBy } from '../tail/output/open-output.ts';
import { tailPlan, tailShape } from '../tail/plan.ts';
import { pollInstead } from '../tail/poll-instead.ts';
import { openTail } from '../tail/run.ts';
import type { Feeder } from '../tail/run-feed.ts';
import { feedWords } from '../tail/run-note.ts';
import { socketOf } from '../tail/socket.ts';
import { checkSourceFlags } from '../tail/source-flags.ts';
import { type OpenFeeder, type Replayed, runTail, type TailedFeed } from './run-tail.ts';
import page from './thesis-tail.md';

export const thesisTail = command({
  path: 'thesis tail',
  page,
  args: [replayArgument],
  options: {
    ...inGroup('What to read', {
      token: list('--token', 'only theses about this token (address or symbol)', text('token')),
      ...authorOptions,
      ...thesisFilterOptions,
    }),
    ...storeOptions,
    ...tailOptions,
  },
  mostUsed: [
    'token',
    'user',
    'symbol',
    'grep',
    'minHoldings',
    'since',
    'count',
    'duration',
    'noFollow',
    'via',
    'lag',
    'exec',
    'confluence',
    'cooldown',
    'waitForBudget',
  ],
  common: ['output', 'service', 'money'],
  calls: ['ws', ...thesisCalls, 'me'],
  record: () => z.union([CooledThesis, CooledConfluence]),
  stream: true,
  exits: [3, 129, 130, 143],
  parse(words, flags) {
    const input = withFiles(words, checkTail(flags, liveThesisView));
    checkSourceFlags({ ...storeOptions, ...tailOptions }, flags);
    const { via, noFollow } = flags;
    return {
      ...input,
      // Everything up to now is in pages and in the store; the WebSocket only has what comes later.
      via: noFollow && via === 'auto' ? ('poll' as const) : via,
      conditions: conditionsOf(flags),
    };
  },
  async run(context, input) {
    await runTail(context, await thesisFeed(context, input));
  },
});

interface ThesisTailInput
  extends TailFlags,
    GivenFlags<typeof authorOptions>,
    GivenFlags<typeof storeOptions> {
  readonly token: readonly string[];
  readonly conditions: FilterConditions;
}

/** What a run follows: whose theses, about what, which of them, and how they are shown. */
interface FollowedTheses {
  readonly input: ThesisTailInput;
  readonly authors: readonly Subject[];
  readonly lookup: AuthorLookup;
  readonly tokens: readonly string[];
  readonly shown: ShownPosts;
  /** Whether pages are cheaper than the WebSocket, and fast enough for this run. */
  readonly prefersPages: boolean;
}

/** The same once the ids of the authors are known. */
interface FoundTheses extends FollowedTheses {
  readonly scopes: readonly ThesisScope[];
  /** The ids of the authors, and their handles, for posts that lack the id. */
  readonly users: readonly string[];
  readonly onUnnamed: (() => void) | undefined;
  readonly filter: (row: TailRow) => boolean;
  readonly output: OutputPlan;
}

/** The feed of the theses that the flags name, from each of its sources. */
async function thesisFeed(context: Context, input: ThesisTailInput): Promise<TailedFeed> {
  const theses = await readTheses(context, input);
  const { authors, lookup, tokens, shown } = theses;
  const isSocket = usesSocket(theses);
  const isOpen = isSocket && input.via === 'auto';
  const lag = isOpen ? await pollInstead(context, input, theses.prefersPages) : undefined;
  const plan = tailPlan(
    tailShape(
      { ...input, lag: lag ?? input.lag },
      thesisScopes(lookup.planned, tokens),
      (scope = {}) => thesisCall(scope, { limit: THESIS_BLOCK }),
      isSocket && lag === undefined,
    ),
    lookup,
  );
  return {
    flags: input,
    shown,
    list: input.users,
    words: feedWords(
      'theses',
      authors.map((author) => author.text),
      input.token,
    ),
    plan,
    calls: input.via === 'store' ? lookup.calls : plan.calls,
    replayed: () => replayedTheses(context, theses),
    findStored: () => findStored(context, theses),
    openLive: async (files) => openLive(context, files, await findAuthors(context, theses)),
  };
}

async function readTheses(context: Context, input: ThesisTailInput): Promise<FollowedTheses> {
  const { conditions } = input;
  const tokens = await tokenAddresses(input.token, context);
  const isReplay = input.replay.length > 0;
  const authors = await readAuthors(input, context, !isReplay);
  const posts = {
    ...showingFilters(liveThesisView, conditions, thesisView),
    highlight: highlightOf(conditions.grep),
  };
  return {
    input,
    authors,
    // The posts of a file state the handles of their authors.
    lookup: await planLookup(isReplay ? authors.filter(isNoHandle) : authors, userIds, context),
    tokens,
    shown: shownBy(input, {
      view: posts,
      timeField: 'platformCreatedAt',
      fields: thesisConfluence,
    }),
    // A person who follows everything and gives no --lag wants each post at once.
    prefersPages: input.isLagGiven || authors.length > 0 || tokens.length > 0,
  };
}

function usesSocket({ input: { via, lag }, prefersPages }: FollowedTheses): boolean {
  if (via === 'poll') return false;
  return via !== 'auto' || !prefersPages || !arePollsCheaper(lag, cu.thesisBlock);
}

/** Which posts of a file are replayed. */
async function replayedTheses(
  context: Context,
  { input, authors, lookup, tokens }: FollowedTheses,
): Promise<Replayed> {
  const recorded = await knownAuthors(authors, context);
  const filter = watchingValues(
    context,
    input,
    createFilter<TailRow>({
      tokens,
      ...input.conditions,
      onTimeout: noticeTimeout(context.terminal),
    }),
  );
  const onDoubt = once((handle: string) =>
    context.terminal.notice(
      `in these files, @${handle} was also another user's, or its user had another handle too; a user id finds the posts of one user`,
    ),
  );
  const isAuthor = authors.length === 0 ? undefined : isByOne(recorded, lookup.kept(), onDoubt);
  return {
    postTime: 'platformCreatedAt',
    filter: (row) => filter(row) && (isAuthor?.(row) ?? true),
  };
}

/** Looks up the authors, which may cost something, and states what is read and printed. */
async function findAuthors(context: Context, theses: FollowedTheses): Promise<FoundTheses> {
  const { input, authors, lookup, tokens, shown } = theses;
  const { conditions } = input;
  const ids = await lookup.find();
  const users = [...ids, ...lookup.handles.values()];
  const onUnnamed = lookup.noticeUnnamed(ids);
  const isSeveral = authors.length > 1 || input.users !== undefined;
  return {
    ...theses,
    scopes: thesisScopes(ids, tokens),
    users,
    onUnnamed,
    filter: watchingValues(
      context,
      input,
      createFilter<TailRow>({
        tokens,
        users,
        ...conditions,
        onUnnamed,
        onTimeout: noticeTimeout(context.terminal),
      }),
    ),
    output: {
      ...shown,
      flags: input,
      feed: thesisFeedName(isSeveral ? undefined : ids[0], tokens),
      filters: filtersOf(conditions, { users: isSeveral ? ids : [] }),
    },
  };
}

/** A filter that says if --symbol or --network has a value that the first posts do not have. */
function watchingValues(
  context: Context,
  { conditions }: ThesisTailInput,
  filter: (row: TailRow) => boolean,
): (row: TailRow) => boolean {
  const { symbol = [], network = [] } = conditions;
  if (symbol.length + network.length === 0) return filter;
  const unseen = new UnseenValues(context, conditions, {
    symbolField: 'tokenSymbol',
    networkField: 'tokenNetwork',
    pageRows: THESIS_BLOCK,
    noun: ['post'],
  });
  return (row) => {
    unseen.watch(row.record);
    return filter(row);
  };
}

/** Opens the feed in the store, if the run reads it from there. */
async function findStored(
  context: Context,
  theses: FollowedTheses,
): Promise<OpenFeeder | undefined> {
  const { input, tokens } = theses;
  if (input.via !== 'store' && input.via !== 'auto') return undefined;
  const { chooseFeed } = await import('../store/choose-feed.ts');
  const normal = tokens.map(normalToken).sort();
  const chosen = await chooseFeed(context, input.via, normal);
  if (!chosen) return undefined;
  const { store, feedId } = chosen;
  return async (files) => {
    const { filter, output, scopes } = await findAuthors(context, theses);
    const posts = { store, feedId, flags: input, filter };
    const { openFollower } = await import('../store/follow.ts');
    return openFollower(context, files, {
      ...posts,
      ...output,
      filling: input.fill ? await gapFilling(context, onlyOf(scopes)) : undefined,
      tokens: normal,
    });
  };
}

async function gapFilling(context: Context, scope: ThesisScope): Promise<GapFilling> {
  const { GapFilling } = await import('../../tail/stored/fill-gap.ts');
  const client = await context.service.client();
  return new GapFilling(thesisSource(client, scope), context.terminal.io.clock);
}

/** Opens the tail of the service, which pays for pages and for the WebSocket. */
async function openLive(context: Context, files: TailFiles, theses: FoundTheses): Promise<Feeder> {
  const { input, tokens, scopes, output, filter } = theses;
  const { via } = input;
  if (via === 'store') throw new Error('--via store did not open a store');
  const { clock } = context.terminal.io;
  const client = await context.service.client();
  // With more than fifty tokens, subscribe to all posts and filter them on this machine.
  const byToken = tokens.length > 0 && tokens.length <= SOCKET_TOKENS_MAX;
  const scope = onlyOf(scopes);
  const notes = await AuthorNotes.open(context);
  const tail = await openTail(context, files, client, {
    ...output,
    ...sourcesOf(scopes, (each) => thesisSource(client, each)),
    what: severalText(scopes.length, scopes[0]?.userId === undefined ? 'token' : 'author'),
    connect: via === 'poll' ? undefined : socketOf(context, client, await context.service.target()),
    options: {
      via,
      cheapest: theses.prefersPages,
      socketShare: context.settings.socketShare,
      subscription: byToken ? { type: 'tokens', tokens: [...tokens] } : { type: 'all' },
      // The WebSocket delivers only posts of the subscribed tokens, and a page can be limited
      // to one token at most.
      carries: byToken ? createFilter({ tokens }) : undefined,
      scope: createFilter({
        tokens: scope.tokenAddress === undefined ? [] : [scope.tokenAddress],
        users: scope.userId === undefined ? [] : theses.users,
        onUnnamed: theses.onUnnamed,
      }),
      filter: notingFilter(filter, notes),
    },
  });
  return notingFeeder(tail, notes, clock);
}

/** The feed of the only author or token, or else the feed of all posts. */
const onlyOf = (scopes: readonly ThesisScope[]): ThesisScope =>
  (scopes.length === 1 ? scopes[0] : undefined) ?? {};

const isNoHandle = ({ type }: Subject): boolean => type !== 'handle';

/** Notes who has which handle, and reports a wanted one that is not always that of one user. */
function handleNotes(wanted: ReadonlySet<string>, onDoubt: (handle: string) => void) {
  const handleOf = new Map<string, string>();
  const idOf = new Map<string, string>();
  return (id: string, handle: string): void => {
    const before = handleOf.get(id) ?? handle;
    const isSame = before === handle && (idOf.get(handle) ?? id) === id;
    handleOf.set(id, handle);
    idOf.set(handle, id);
    const doubted = isSame ? undefined : [handle, before].find((name) => wanted.has(name));
    if (doubted !== undefined) onDoubt(doubted);
  };
}

/**
 * Whether a post is by one of these authors: by the id if the book or the user knows it, because a
 * handle may have been another user's when the post was recorded. Reports a handle without a known
 * id if the posts show that it is not that of one user.
 */
function isByOne(
  authors: readonly KnownAuthor[],
  ids: readonly string[],
  onDoubt: (handle: string) => void,
): (row: TailRow) => boolean {
  const authorIds = new Set([...ids, ...authors.flatMap(({ id }) => id ?? [])]);
  const handles = new Set(authors.flatMap(({ handle }) => handle?.toLowerCase() ?? []));
  const named = authors.filter(({ subject }) => subject.type === 'handle');
  const typed = new Set(named.map(({ subject }) => subject.normal));
  const unknown = new Set(named.filter(({ id }) => !id).map(({ subject }) => subject.normal));
  const note = handleNotes(unknown, onDoubt);
  return ({ record }) => {
    const id = textOf(record['authorId'])?.toLowerCase();
    const handle = String(record['authorHandle']).toLowerCase();
    if (id === undefined) return handles.has(handle) || typed.has(handle);
    if (authorIds.has(id)) return true;
    note(id, handle);
    return unknown.has(handle);
  };
}
