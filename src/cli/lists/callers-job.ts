import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import { numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import type { BoardPeriod } from '../../contract/records/launchpad.ts';
import { boardEntries, isOnRecord } from '../../core/boards.ts';
import { callerFigures } from '../../core/callers.ts';
import { answerOf, type Lookup, type LookupAnswer, lookup } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject, subjectKey } from '../../core/lookup/subject.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import { callersView } from '../../output/views/callers.ts';
import { callerCalloutView } from '../../output/views/launchpad.ts';
import { gatherSubjects } from '../args/subjects.ts';
import type { ExitCode } from '../exit.ts';
import { resumeCached, resumeRest, type SubjectPlan } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import { type ByWallet, WalletLookup } from '../lookup/wallet-lookup.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import type { Out } from '../run/out.ts';
import { type CacheFlags, calloutPart, FeedReader } from './feed-reader.ts';

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

/** Before the board is read, its wallets are not known. The price is the same for every wallet. */
const ANY_WALLET = '1'.repeat(32);

const NO_RANGE = { since: undefined, until: undefined };

/** What became of the callouts of wallets: those that are named, or the best of a leaderboard. */
export async function callersJob(context: Context, flags: CallersFlags): Promise<CommandJob> {
  const { terminal, settings } = context;
  const tally = new CallersTally(flags.strict);
  const calls = await FeedReader.open(context, NO_RANGE, flags);
  const byWallet = callsByWallet(context, flags, calls, tally);
  const callers = new WalletLookup(await openCachedLookup(context, flags), byWallet);
  const view = flags.calls ? callerCalloutView : callersView(flags.board !== undefined);
  const input =
    flags.source &&
    (await gatherSubjects(flags.source, terminal, await settings.key.get(), (text) =>
      readSubject(text),
    ));
  const plans = new Map<string, SubjectPlan>();
  for (const subject of input?.checked ?? [])
    plans.set(subjectKey(subject), await callers.plan(subject));
  const what = input
    ? `the callouts of ${countText(input.checked.length, 'caller')}`
    : `the callouts of the first ${flags.top} of the ${flags.board} board`;
  return {
    plan: {
      calls: input
        ? [...plans.values()].flatMap((plan) => plan.calls)
        : boardCalls(flags, byWallet.planLater(ANY_WALLET)),
      isOpen: input?.hasMore ?? false,
      costs: (cost) => `Reading ${what} will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({
        message: `stopped after ${spent}; there are more callers`,
        hint: context.bill.isCached ? resumeCached : resumeRest,
      }),
    },
    view,
    tally,
    async print(out) {
      const entries = flags.board && (await entriesOf(context, flags));
      const answer = async (subject: Subject, signal: AbortSignal) => {
        const plan = plans.get(subjectKey(subject)) ?? (await callers.plan(subject));
        return await plan.find(signal, () => {});
      };
      const lookups = lookup(entries ? [...entries.keys()] : (input?.all() ?? []), {
        answer,
        signal: terminal.signal,
      });
      await printCallers(out, flags, tally.adding(lookups), entries);
    },
  };
}

/** A wallet without a failure of its own counts as found, also with only a part of its callouts. */
class CallersTally extends LookupTally {
  /** What ended the reading of a wallet early. */
  cut: Failure | undefined;

  override exit(): ExitCode {
    if (this.cut) throw this.cut;
    return super.exit();
  }

  async *adding(lookups: AsyncIterable<Lookup>): AsyncGenerator<Lookup, void, void> {
    for await (const found of lookups) {
      this.add(found.answer);
      yield found;
    }
  }
}

function boardCalls({ board: period, top }: CallersFlags, pages: Planned): readonly Planned[] {
  const times = top * (pages.times ?? 1);
  return [
    { id: 'launchpad.board', ask: { query: { period } } },
    { ...pages, times, standsFor: 'the wallets of the board' },
  ];
}

/** The first entries of the board, by their wallets. */
async function entriesOf(
  { terminal, service }: Context,
  { board: period, top }: CallersFlags,
): Promise<ReadonlyMap<string, Sent>> {
  const ask = { query: { period } };
  const { record } = await service.call('launchpad.board', ask, { signal: terminal.signal });
  if (!isOnRecord(record)) terminal.notice(`no ${period} board on record`);
  const entries = boardEntries(record).slice(0, top);
  return new Map(
    entries.flatMap((entry) => (textOf(entry['wallet']) ? [[String(entry['wallet']), entry]] : [])),
  );
}

/** Reads the callouts of a wallet. What was read before a failure was paid for, and is printed. */
function callsByWallet(
  { terminal, service }: Context,
  { limit, calls: isList }: CallersFlags,
  feeds: FeedReader,
  tally: CallersTally,
): ByWallet {
  const answer = (wallet: string, read: ReadPosts): LookupAnswer => {
    const { posts: calls, complete: isComplete, failure, via } = read;
    const now = terminal.io.clock.now();
    if (failure && (calls.length === 0 || !(failure.error instanceof Failure)))
      return answerOf(failure.error, now);
    if (failure?.error instanceof Failure) tally.cut ??= failure.error;
    // The multiples are those of the time at which they were read, so the ages are too.
    const time = read.readAt ?? now;
    const record = isList
      ? { items: calls.map((call) => call.record) }
      : callerFigures({ wallet, calls, isComplete }, time);
    return { found: true, record, time, from: via };
  };
  return {
    planLater: (name) => feeds.planLater(calloutPart(service, { wallet: name }, limit)),
    async plan(wallet) {
      const part = calloutPart(service, { wallet }, limit);
      const { call, posts } = await feeds.plan(part);
      return {
        calls: [call],
        find: async (signal) => answer(wallet, posts ?? (await feeds.read(part, signal))),
      };
    },
  };
}

async function printCallers(
  out: Out,
  { calls: isList, board }: CallersFlags,
  lookups: AsyncIterable<Lookup>,
  entries: ReadonlyMap<string, Sent> | undefined,
): Promise<void> {
  async function* calls() {
    for await (const { answer } of lookups)
      if (answer.found)
        for (const call of recordsOf(answer.record['items']))
          yield { ...call, readAt: answer.time };
  }
  async function* callers() {
    for await (const { record } of lookups) yield ranked(record, entries?.get(record.subject));
  }
  if (isList) await out.print(callerCalloutView, calls());
  else await out.print(callersView(board !== undefined), callers());
}

/** The record of a wallet of a board, which may know the name of somebody without callouts. */
function ranked<R extends Lookup['record']>(record: R, entry: Sent | undefined): R {
  if (entry === undefined || record.found !== true) return record;
  const userName = record['userName'] ?? textOf(entry['username']) ?? null;
  return { ...record, userName, rank: numberOf(entry['rank']) };
}
