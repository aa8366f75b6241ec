import { EventEmitter, once } from 'node:events';
import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { PriceBounds } from '../../contract/endpoint.ts';
import type { BudgetLeft, Client, Remainder } from '../../contract/ports/client.ts';
import type { Ledger, PaidCall, Slot } from '../../contract/ports/ledger.ts';
import type { Known } from '../../contract/read-record.ts';
import type { Me } from '../../contract/records/account.ts';
import { leftOf } from '../account.ts';
import { createQueue } from './queue.ts';
import type { LaneName, Limiter } from './rate-limiter.ts';

type Spent = Client['spent'];

/** The spending limit of a run. It is read again for every call, because the user can raise it during the run. */
export interface SpendLimit {
  readonly limit?: number | undefined;
  /** The cost that the user confirmed. Calls whose answers were lost are repeated only within this cost. */
  readonly agreed?: number | undefined;
  readonly hint?: string | undefined;
  /** Asks the user to raise the limit by at least `most` CU; false if the user declines. */
  raise?(most: number): Promise<boolean>;
  /** The failure of a call that the limit cannot cover; undefined for the usual one. */
  stopped?(): Failure | undefined;
}

/** A call, or a minute of the WebSocket, that is about to be paid for. */
interface Purchase {
  readonly endpoint: string;
  readonly bounds: PriceBounds | undefined;
  /** The rate limit that the call waits for; undefined for a minute of the WebSocket. */
  readonly lane?: LaneName | undefined;
  /** By the monotonic clock. */
  readonly until?: number | undefined;
}

/** The one way to pay: through the spending limit of the run, the rate limit, and the ledger with its budgets. */
export function createSpend(
  allowed: SpendLimit,
  limiter: Pick<Limiter, 'acquire'>,
  ledger: Ledger | undefined,
) {
  const writing = new Set<Promise<void>>();
  // Calls are admitted in order, so that the result does not depend on which answer arrives first.
  const limited = createQueue();
  const budgeted = createQueue();
  const endings = new EventEmitter().setMaxListeners(0);
  let cu = 0;
  let lost = 0;
  let calls = 0;
  /** The maximum cost of the requests in flight. */
  let reserved = 0;
  /** The cost of the open minutes of the WebSocket. */
  let standing = 0;
  let recorded = 0;
  let ended = 0;
  let mayRaise = true;

  const ending = async (signal: AbortSignal | undefined) => {
    await once(endings, 'end', signal && { signal }).catch(() => {});
    signal?.throwIfAborted();
  };

  const maximum = () => allowed.limit ?? Number.POSITIVE_INFINITY;
  const agreed = () => allowed.agreed ?? Number.POSITIVE_INFINITY;
  const fits = (most: number, within: number) => cu + lost + reserved + standing + most <= within;

  const refusal = (most: number) => {
    const left = Math.max(0, maximum() - cu - lost - standing);
    const text = `the next call may cost ${unitsText(most)} but only ${unitsText(left)} of the spending limit (${unitsText(maximum())}) remain`;
    const hint = allowed.hint ?? 'raise --max-cu';
    return allowed.stopped?.() ?? new Failure('limit', text, { code: 'CEILING', hint });
  };

  /** Counts the maximum cost of a call as soon as the limit covers it; returns a function that no longer counts it. */
  async function hold(
    most: number,
    stands: boolean,
    signal: AbortSignal | undefined,
  ): Promise<() => void> {
    while (most > 0 && !fits(most, maximum())) {
      // Calls in flight may cost less than was reserved; the open minutes of a WebSocket will not.
      if (reserved > 0) await ending(signal);
      else if (!allowed.raise || !mayRaise) throw refusal(most);
      else {
        mayRaise = false;
        mayRaise = await allowed.raise(most);
      }
    }
    const count = (sign: 1 | -1) => {
      if (stands) standing += sign * most;
      else reserved += sign * most;
    };
    count(1);
    return () => count(-1);
  }

  async function record(call: PaidCall, stands: boolean, signal: AbortSignal | undefined) {
    for (;;) {
      const before = ended;
      try {
        const slot = await ledger?.begin(call, signal);
        if (!stands) recorded++;
        return slot;
      } catch (error) {
        const isShort =
          error instanceof Failure && error.code === BUDGET && call.most !== undefined;
        if (!isShort || (recorded === 0 && ended === before)) throw error;
      }
      // A call of this run may have ended in the meantime; calls of other runs are not waited for.
      if (ended === before) await ending(signal);
    }
  }

  const spent = (): Spent => ({ cu, atMost: cu + lost + standing, inFlight: reserved, calls });

  return {
    get spent(): Spent {
      return spent();
    },
    left: remainderOf(spent),
    /** Whether the confirmed cost and the spending limit cover another `most` CU. */
    affords: (most: number): boolean => fits(most, Math.min(maximum(), agreed())),
    /** A rejected call does not stay counted. With `repeat`, the call repeats one whose answer was lost. */
    async reserve(
      { endpoint, bounds, lane, until }: Purchase,
      signal: AbortSignal | undefined,
      { repeat = false }: { readonly repeat?: boolean } = {},
    ): Promise<Slot> {
      const most = bounds?.most ?? 0;
      const isFree = bounds?.most === 0;
      const stands = lane === undefined;
      signal?.throwIfAborted();
      if (repeat && most > 0 && !fits(most, agreed())) throw notAgreed(most);
      const drop =
        most === 0
          ? await hold(0, stands, signal)
          : await limited(() => hold(most, stands, signal), signal);
      let entry: Slot<Promise<void>> | undefined;
      try {
        if (lane !== undefined) await limiter.acquire(lane, signal, until);
        signal?.throwIfAborted();
        const call = { endpoint, most: bounds?.most };
        if (!isFree) {
          entry = await budgeted(() => record(call, stands, signal), signal);
          calls++;
        }
      } catch (error) {
        drop();
        endings.emit('end');
        throw error;
      }
      let isOpen = true;
      const end = (count: () => void, write: () => Promise<void> | undefined) => {
        if (!isOpen) return;
        isOpen = false;
        drop();
        count();
        endings.emit('end');
        // An answer is returned before its cost is written; `settled` waits for all writes.
        const written = (write() ?? Promise.resolve()).catch(() => {});
        writing.add(written);
        void written.then(() => {
          writing.delete(written);
          if (!stands && !isFree) recorded--;
          ended++;
          endings.emit('end');
        });
      };
      return {
        settle(cost) {
          const { cuAtMost = 0 } = cost;
          const count = () => {
            cu += cost.cu;
            lost += cuAtMost;
          };
          end(count, () => entry?.settle(cost));
        },
        lose(how = {}) {
          const count = () => {
            lost += most;
          };
          end(count, () => entry?.lose(how));
        },
        release() {
          const count = () => {
            if (!isFree) calls--;
          };
          end(count, () => entry?.release());
        },
      };
    },
    /** Resolves when the outcomes of all ended calls are in the ledger. */
    async settled(): Promise<void> {
      await Promise.all(writing);
    },
  };
}

const notAgreed = (most: number) =>
  new Failure(
    'limit',
    `the answer was lost, and requesting it again may cost another ${unitsText(most)}, beyond the confirmed cost`,
    { code: 'NOT_AGREED', hint: 'run the command again to repeat the request' },
  );

/** What is left, by the last answers. Uncertain costs count with their maximum, so it is never overstated. */
function remainderOf(spent: () => Spent): Remainder {
  let account: { readonly me: Known<Me>; readonly then: Spent } | undefined;
  let budgets: { readonly states: readonly BudgetLeft[]; readonly then: Spent } | undefined;
  const less = (left: number, then: Spent) => Math.max(0, left - (spent().atMost - then.atMost));
  return {
    get key() {
      if (!account) return undefined;
      const { units, reveals } = leftOf(account.me);
      return { units: units === null ? null : less(units, account.then), reveals };
    },
    get unitsUsed() {
      const used = account?.me.usage?.unitsUsed;
      return account && used !== undefined ? used + spent().cu - account.then.cu : null;
    },
    get budgets() {
      return (budgets?.states ?? []).map((state) => ({
        ...state,
        left: less(state.left, budgets?.then ?? spent()),
      }));
    },
    request() {
      const then = spent();
      return (stated) => {
        if (stated.me) account = { me: stated.me, then };
        if (stated.budgets) budgets = { states: stated.budgets, then };
      };
    },
  };
}
