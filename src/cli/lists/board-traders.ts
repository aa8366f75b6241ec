import { Failure } from '../../base/failure.ts';
import { copySources } from '../../base/json.ts';
import { textOf } from '../../base/json-object.ts';
import { countText } from '../../base/units.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { CachedLookup, LookupPlan } from '../../core/lookup/cached-lookup.ts';
import { type LookupAnswer, lookup, NOT_ASKED } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import { NAMES_OF_ACCOUNT } from '../../core/lookup/wallet-owner.ts';
import { PLACEHOLDER, type Planned } from '../../core/spend/plan.ts';
import { outputClosed } from '../../output/sink.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import type { Context } from '../run/context.ts';
import { openProgress } from '../run/progress.ts';
import { rowsUntilFailure } from './row-order.ts';

/** Before the board is read, its wallets are not known. The price is the same for every wallet. */
export const ANY_WALLET = '1'.repeat(32);

/** One, so that the cost of a board has a bound before its wallets are known. */
const OWNERS = 1;

/**
 * The calls that may show who is behind so many wallets: their person, or the name of their
 * launchpad account.
 */
export const traderCalls = (times: number): readonly Planned[] => [
  {
    id: 'user.id',
    ask: { params: { id: PLACEHOLDER } },
    times,
    isSure: false,
    standsFor: 'the people who are known with them',
  },
  {
    id: 'launchpad.user',
    ask: { params: { wallet: ANY_WALLET } },
    times,
    isSure: false,
    standsFor: 'the wallets of the board',
  },
  {
    id: 'user.handle',
    ask: { params: { handle: ANY_WALLET } },
    times: NAMES_OF_ACCOUNT * times,
    isSure: false,
    standsFor: 'their names',
  },
];

export async function openBoardTraders(context: Context): Promise<BoardTraders> {
  const { bill, settings } = context;
  bill.isCached = settings.folders.state !== undefined;
  const users = await openCachedLookup(context, { way: 'cheap', mostOwners: OWNERS });
  return new BoardTraders(users, context);
}

/** Who is behind the wallets of a leaderboard, by the ways that cost little. */
class BoardTraders {
  readonly #users: CachedLookup;
  readonly #context: Context;
  #failed = 0;
  #firstFailure: Failure | undefined;

  constructor(users: CachedLookup, context: Context) {
    this.#users = users;
    this.#context = context;
  }

  /**
   * The rows with their traders. All rows come, because they were paid for; after a failure, with
   * the traders who are kept.
   */
  async *naming(rows: AsyncIterable<Sent>): AsyncGenerator<Sent, void, void> {
    const board = await rowsUntilFailure(rows);
    const plans = await this.#planAll(board.rows);
    let named = 0;
    let known = 0;
    try {
      if (board.failure !== undefined) throw board.failure;
      for await (const row of this.#lookUp(board.rows, plans)) {
        named++;
        if (row['trader'] !== null) known++;
        yield row;
      }
    } catch (error) {
      for (const row of board.rows.slice(named)) yield withTrader(row, plans.get(row)?.answer);
      if (error !== outputClosed) this.#noticeSkipped(board.rows.slice(named), plans);
      throw error;
    }
    this.#noticeFailed(plans.size);
    if (known === 0 && plans.size > 0)
      this.#context.terminal.notice(`0 of ${countText(plans.size, 'wallet')} have a known trader`);
  }

  async *#lookUp(
    rows: readonly Sent[],
    plans: ReadonlyMap<Sent, LookupPlan>,
  ): AsyncGenerator<Sent, void, void> {
    const { signal } = this.#context.terminal;
    const planOf = new Map([...plans.values()].map((plan) => [plan.subject, plan]));
    const answer = (subject: Subject, stop: AbortSignal) =>
      planOf.get(subject)?.find(stop) ?? this.#users.answer(subject, stop);
    const progress = await openProgress(this.#context);
    progress.describe('looking up the traders');
    const answers = lookup(planOf.keys(), { answer, signal });
    let done = 0;
    try {
      for (const row of rows) {
        if (!plans.has(row)) {
          yield withTrader(row, undefined);
          continue;
        }
        const { value } = await answers.next();
        this.#count(value?.answer);
        progress.show('looking up', ++done, plans.size);
        yield withTrader(row, value?.answer);
      }
    } finally {
      progress.stop();
      await answers.return?.();
    }
  }

  /** A row without a valid wallet has no plan. */
  async #planAll(rows: readonly Sent[]): Promise<ReadonlyMap<Sent, LookupPlan>> {
    const owned: Sent[] = [];
    const subjects: Subject[] = [];
    for (const row of rows) {
      const subject = await walletOf(row);
      if (subject === undefined) continue;
      owned.push(row);
      subjects.push(subject);
    }
    const plans = new Map<Sent, LookupPlan>();
    this.#users.planAll(subjects).forEach((plan, at) => {
      const row = owned[at];
      if (row) plans.set(row, plan);
    });
    return plans;
  }

  #count(answer: LookupAnswer | undefined): void {
    if (answer?.found !== null || answer.failure.code === NOT_ASKED) return;
    this.#failed++;
    this.#firstFailure ??= answer.failure;
  }

  #noticeFailed(all: number): void {
    if (this.#firstFailure === undefined) return;
    if (this.#failed === all) throw this.#firstFailure;
    const { message } = this.#firstFailure;
    const wallets = countText(this.#failed, 'wallet');
    this.#context.terminal.notice(`could not look up who is behind ${wallets}: ${message}`);
  }

  #noticeSkipped(rows: readonly Sent[], plans: ReadonlyMap<Sent, LookupPlan>): void {
    const skipped = rows.filter((row) => plans.has(row) && !plans.get(row)?.answer).length;
    if (skipped === 0) return;
    const wallets = countText(skipped, 'wallet');
    this.#context.terminal.notice(`who is behind ${wallets} was not looked up`);
  }
}

async function walletOf(row: Sent): Promise<Subject | undefined> {
  const wallet = textOf(row['wallet']);
  if (!wallet) return undefined;
  try {
    return await readSubject(wallet, 'wallet');
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}

function withTrader(row: Sent, answer: LookupAnswer | undefined): Sent {
  const user = answer?.found ? known(User, answer.record) : undefined;
  const trader = user?.handle ?? null;
  const traderId = user?.id ?? null;
  return copySources({ ...row, trader, traderId }, row);
}
