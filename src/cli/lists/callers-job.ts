import { addTo } from '../../base/add-to.ts';
import { textOf } from '../../base/json-object.ts';
import { isWithin } from '../../contract/answer-age.ts';
import type { AnswerCache } from '../../contract/ports/answers.ts';
import { numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import { recognize } from '../../contract/record-types.ts';
import type { BoardPeriod } from '../../contract/records/launchpad.ts';
import { boardCall, boardEntries, isOnRecord } from '../../core/boards.ts';
import { callerFigures } from '../../core/callers.ts';
import { answerOf, type Lookup, type LookupAnswer } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import { normalToken } from '../../core/pages/filter.ts';
import { type PageRow, postIdOf } from '../../core/pages/post.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import { namesText } from '../../output/notices.ts';
import { callersView } from '../../output/views/callers.ts';
import { callerCalloutView } from '../../output/views/launchpad.ts';
import { outcome } from '../../output/views/subject.ts';
import { lookupJob } from '../lookup/lookup-job.ts';
import { resumeCached, resumeRest } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import { type ByWallet, WalletLookup } from '../lookup/wallet-lookup.ts';
import { openAnswers } from '../run/answers.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import { ANY_WALLET } from './board-traders.ts';
import { answerAge, type CacheFlags, calloutFeed, FeedReader, pagesLeft } from './feed-reader.ts';

export interface CallersFlags extends CacheFlags {
  /** Undefined with a board. */
  readonly source: SubjectSource | undefined;
  readonly board: BoardPeriod | undefined;
  readonly top: number;
  /** How many callouts of each wallet are read. */
  readonly limit: number;
  readonly calls: boolean;
  readonly strict: boolean;
}

const NO_RANGE = { since: undefined, until: undefined };

/** What became of the callouts of wallets: those that are named, or the best of a leaderboard. */
export async function callersJob(context: Context, flags: CallersFlags): Promise<CommandJob> {
  const { terminal, bill } = context;
  const { board: period, top } = flags;
  const tally = new LookupTally(flags.strict, terminal.io.clock.now());
  const byWallet = callsByWallet(context, flags, await FeedReader.open(context, NO_RANGE, flags));
  const callers = new WalletLookup(await openCachedLookup(context, flags), byWallet);
  const view = flags.calls ? callerCalloutView : callersView(period !== undefined);
  const jobFor = (source: SubjectSource | readonly Subject[], entries: Entries = new Map()) =>
    lookupJob(context, {
      view,
      source,
      tally,
      read: (text) => readSubject(text),
      doing: 'reading the callouts of',
      noun: 'caller',
      resume: bill.isCached ? resumeCached : resumeRest,
      isList: true,
      rows: flags.calls
        ? (records) => callsOf(records, terminal.notice)
        : (records) => ranked(records, entries),
      plan: (subjects) => Promise.all(subjects.map((subject) => callers.plan(subject))),
    });
  if (period === undefined) return await jobFor(flags.source ?? []);
  const cache = flags.noCache ? undefined : await openAnswers(context);
  const jobOf = (record: Sent) => {
    if (!isOnRecord(record)) terminal.notice(`no ${period} board on record`);
    const entries = bestOf(record, top);
    return jobFor([...entries.keys()].map(walletSubject), entries);
  };
  const age = answerAge(context, flags);
  const saved = savedBoard(cache, period, age, terminal.io.clock.now());
  if (saved) return await jobOf(saved);
  const pages = byWallet.planLater(ANY_WALLET);
  const calls = {
    ...pages,
    times: top * (pages.times ?? 1),
    standsFor: 'the wallets of the board',
  };
  return {
    plan: {
      calls: [boardCall(period), calls],
      costs: (cost) => `Reading the callouts of the ${period} board will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({ message: `stopped after ${spent}; there are more callers` }),
    },
    view,
    tally,
    print: async (out) => (await jobOf(await requestBoard(context, cache, period))).print(out),
  };
}

/** The calls of all callers, each once: two subjects may be one wallet. */
async function* callsOf(
  records: AsyncIterable<Lookup['record']>,
  notice: (text: string) => void,
): AsyncGenerator<Sent> {
  const listed = new Set<string>();
  const others = new Map<string, string[]>();
  for await (const record of records) {
    if (record.found === false) addTo(others, outcome(record), record.subject);
    else if (record.found === null) addTo(others, 'failed', record.subject);
    else
      for (const call of recordsOf(record['items'])) {
        const id = postIdOf(call);
        if (id !== undefined && listed.has(id)) continue;
        if (id !== undefined) listed.add(id);
        yield { ...call, readAt: record['readAt'] };
      }
  }
  // Such a caller has no call that could say so.
  for (const [what, names] of others) notice(`${what}: ${namesText(names)}`);
}

/** The entries of a leaderboard by their wallets, the best first. */
type Entries = ReadonlyMap<string, Sent>;

const bestOf = (board: Sent, top: number): Entries =>
  new Map(
    boardEntries(board)
      .flatMap((entry): [string, Sent][] => {
        const wallet = textOf(entry['wallet']);
        return wallet ? [[wallet, entry]] : [];
      })
      .slice(0, top),
  );

const walletSubject = (wallet: string): Subject => ({
  text: wallet,
  type: 'wallet',
  value: wallet,
  normal: normalToken(wallet),
});

/** The records of wallets of a board, which may know the names of those without callouts. */
async function* ranked(
  records: AsyncIterable<Lookup['record']>,
  entries: Entries,
): AsyncGenerator<Lookup['record']> {
  for await (const record of records) {
    const entry = entries.get(record.subject);
    if (entry === undefined || record.found !== true) yield record;
    else {
      const userName = record['userName'] ?? textOf(entry['username']) ?? null;
      yield { ...record, userName, rank: numberOf(entry['rank']) };
    }
  }
}

/** A leaderboard that is young enough not to be requested again. */
function savedBoard(
  cache: AnswerCache | undefined,
  period: BoardPeriod,
  maxAgeMs: number,
  now: number,
): Sent | undefined {
  const [saved] = cache?.get('launchpad.board', [period]) ?? [];
  const isYoung = saved && isWithin(saved.time, maxAgeMs, now);
  return isYoung ? recognize('board', saved.record)?.record : undefined;
}

async function requestBoard(
  { service, terminal }: Context,
  cache: AnswerCache | undefined,
  period: BoardPeriod,
): Promise<Sent> {
  const { id, ask } = boardCall(period);
  const { record } = await service.call(id, ask);
  const answer = { time: terminal.io.clock.now(), status: 200, record } as const;
  await cache?.put(id, new Map([[period, answer]]));
  return record;
}

/** Reads the callouts of a wallet. What was read before a failure was paid for, and is printed. */
function callsByWallet(
  { terminal, service }: Context,
  { limit, calls: isList }: CallersFlags,
  feeds: FeedReader<PageRow>,
): ByWallet {
  const answer = (wallet: string, read: ReadPosts<PageRow>): LookupAnswer => {
    const { posts: calls, complete: isComplete, failure, via } = read;
    const now = terminal.io.clock.now();
    if (failure && calls.length === 0) return answerOf(failure.error, now);
    // The multiples are those of the time at which they were read, so the ages are too.
    const time = read.readAt ?? now;
    const record = isList
      ? { items: calls.map((call) => call.record) }
      : callerFigures({ wallet, calls, isComplete }, time);
    return { found: true, record, time, from: via, failure: failure?.error };
  };
  const feedOf = (wallet: string) => calloutFeed(service, { wallet }, limit);
  return {
    planLater: (name) => pagesLeft(feedOf(name)),
    async plan(wallet) {
      const { calls, read } = await feeds.plan(feedOf(wallet));
      return { calls, find: async (signal) => answer(wallet, await read(signal)) };
    },
  };
}
