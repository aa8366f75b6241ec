import type { Clock } from '../../base/clock.ts';
import type { Failure } from '../../base/failure.ts';
import type { Rows, RowValue } from '../../contract/ports/rows.ts';
import { isLost } from '../client/resend-rule.ts';

/**
 * How often, and after which wait, an answer is written again that could not be written: it was
 * paid for.
 */
const KEEP_TRIES = 10;
const KEEP_WAIT_MS = 1_000;

/** An answer that was paid for. */
export interface PaidAnswer<V> {
  readonly values: readonly V[];
  /** Caches the answer, after it was written down. */
  readonly save?: () => Promise<void>;
}

/** What became of the rows that were asked for. */
export type AskedRows<V> =
  | { readonly kind: 'answered'; readonly values: readonly V[] }
  | LostRows
  /** Nothing was charged. */
  | { readonly kind: 'unpaid'; readonly error: unknown };

/** The service may have charged the rows, although there is no answer. */
export interface LostRows {
  readonly kind: 'lost';
  readonly cuAtMost: number;
  readonly error: Failure;
}

export interface AskingNeeds {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal?: AbortSignal | undefined;
  /** The disk space that is reserved for each row. */
  readonly rowBytes?: number | undefined;
}

/**
 * Asks for rows in one call. Before and after it, this writes down what a later run must know, so
 * that nothing is paid for twice after a crash; nothing else does that.
 */
export async function askRows<T, V extends RowValue<T>>(
  rows: Pick<Rows<T>, 'states' | 'asking' | 'answered' | 'dropped' | 'lost'>,
  asked: readonly number[],
  needs: AskingNeeds,
  send: () => Promise<PaidAnswer<V>>,
): Promise<AskedRows<V>> {
  const batch = rows.asking(asked, needs.rowBytes);
  let answer: PaidAnswer<V>;
  try {
    answer = await send();
  } catch (error) {
    if (!isLost(error)) {
      rows.dropped(batch);
      return { kind: 'unpaid', error };
    }
    const { cuLost: cuAtMost, answer: text } = error;
    rows.lost(batch, cuAtMost, text);
    return { kind: 'lost', cuAtMost, error };
  }
  const { values, save } = answer;
  try {
    await keep(() => rows.answered(batch, values), needs);
  } finally {
    await save?.();
  }
  // A row that the answer leaves out would otherwise be paid for again and again.
  for (const row of asked) if (rows.states.of(row) !== 'answered') rows.states.fail(row);
  return { kind: 'answered', values };
}

/** Writes down what was paid for: if the disk is full, some space may become free. */
async function keep(write: () => void, { clock, signal }: AskingNeeds): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      write();
      return;
    } catch (error) {
      if (tries >= KEEP_TRIES || signal?.aborted) throw error;
      await clock.sleep(KEEP_WAIT_MS);
    }
  }
}
