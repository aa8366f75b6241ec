import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import { CALLOUT_PAGE, cu } from '../../contract/limits.ts';
import { numberOf, recordsOf, type Sent } from '../../contract/read-record.ts';
import type { BoardPeriod } from '../../contract/records/launchpad.ts';
import { boardEntries, isOnRecord } from '../../core/boards.ts';
import { callerFigures } from '../../core/callers.ts';
import { answerOf, type Lookup, type LookupAnswer, lookup } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import { calloutCall, calloutFeed } from '../../core/pages/feeds.ts';
import { walkPages } from '../../core/pages/walk.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import { callersView } from '../../output/views/callers.ts';
import { calloutView } from '../../output/views/launchpad.ts';
import { gatherSubjects } from '../args/subjects.ts';
import type { ExitCode } from '../exit.ts';
import { resumeRest } from '../lookup/lookup-task.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { LookupTally } from '../lookup/tally.ts';
import { type ByWallet, WalletLookup } from '../lookup/wallet-lookup.ts';
import type { Context } from '../run/context.ts';
import type { CommandJob } from '../run/job.ts';
import type { Out } from '../run/out.ts';

export interface CallersFlags {
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

/** What became of the callouts of wallets: those that are named, or the best of a leaderboard. */
export async function callersJob(context: Context, flags: CallersFlags): Promise<CommandJob> {
  const { terminal, settings } = context;
  const tally = new CallersTally(flags.strict);
  const callers = new WalletLookup(
    await openCachedLookup(context),
    callsByWallet(context, flags, tally),
  );
  const view = flags.calls ? calloutView : callersView(flags.board !== undefined);
  const input =
    flags.source &&
    (await gatherSubjects(flags.source, terminal, await settings.key.get(), (text) =>
      readSubject(text),
    ));
  const what = input
    ? `the callouts of ${countText(input.checked.length, 'caller')}`
    : `the callouts of the first ${flags.top} of the ${flags.board} board`;
  return {
    plan: {
      calls: input
        ? input.checked.flatMap((subject) => callers.plan(subject).calls)
        : boardCalls(flags),
      isOpen: input?.hasMore ?? false,
      costs: (cost) => `Reading ${what} will cost ${cost}`,
      tellsLimit: true,
      stopped: (spent) => ({
        message: `stopped after ${spent}; there are more callers`,
        hint: resumeRest,
      }),
    },
    view,
    tally,
    async print(out) {
      const entries = flags.board && (await entriesOf(context, flags));
      const answer = (subject: Subject, signal: AbortSignal) =>
        callers.plan(subject).find(signal, () => {});
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

function boardCalls({ board: period, top, limit }: CallersFlags): readonly Planned[] {
  const each = callsOf(ANY_WALLET, limit);
  return [
    { id: 'launchpad.board', ask: { query: { period } } },
    {
      ...each,
      times: top * each.times,
      least: 0,
      isSure: false,
      standsFor: 'the wallets of the board',
    },
  ];
}

/** The pages of a wallet. Only the first one is certain to be read. */
const callsOf = (wallet: string, limit: number) => ({
  ...calloutCall({ wallet }, {}),
  times: Math.ceil(limit / CALLOUT_PAGE),
  least: cu.launchpad,
});

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
  tally: CallersTally,
): ByWallet {
  const { clock } = terminal.io;
  return {
    call: (wallet) => callsOf(wallet, limit),
    async find(wallet, signal): Promise<LookupAnswer> {
      const calls: Sent[] = [];
      let isComplete = false;
      const onPage = ({ next }: { readonly next: string | undefined }) => {
        isComplete = next === undefined;
      };
      const feed = calloutFeed(service, { wallet });
      try {
        for await (const call of walkPages(feed, { clock, limit, signal }, { onPage }))
          calls.push(call);
      } catch (error) {
        if (calls.length === 0 || !(error instanceof Failure)) return answerOf(error, clock.now());
        isComplete = false;
        tally.cut ??= error;
      }
      const time = clock.now();
      const record = isList ? { items: calls } : callerFigures({ wallet, calls, isComplete }, time);
      return { found: true, record, time, from: 'service' };
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
      if (answer.found) yield* recordsOf(answer.record['items']);
  }
  async function* callers() {
    for await (const { record } of lookups) yield ranked(record, entries?.get(record.subject));
  }
  if (isList) await out.print(calloutView, calls());
  else await out.print(callersView(board !== undefined), callers());
}

/** The record of a wallet of a board, which may know the name of somebody without callouts. */
function ranked<R extends Lookup['record']>(record: R, entry: Sent | undefined): R {
  if (entry === undefined || record.found !== true) return record;
  const userName = record['userName'] ?? textOf(entry['username']) ?? null;
  return { ...record, userName, rank: numberOf(entry['rank']) };
}
