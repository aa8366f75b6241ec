import { Failure } from '../../base/failure.ts';
import type { RowStates } from '../../base/row-states.ts';

interface RowSource<R> {
  /** Undefined if the requests ended without a result of the row. */
  resultOf(row: number): R | undefined | Promise<R | undefined>;
  /** Asks for more rows. Returns false if none are left; throws what ends the requests. */
  step(): Promise<boolean>;
}

/** Whether there is more to ask for, or what has ended the requests. */
type Requests = 'more' | 'done' | Failure;

/**
 * Yields the results of all rows in their order, and asks for more when it meets an open row. All
 * of them are yielded before a failure is thrown: they were paid for.
 */
export async function* inOrder<R>(
  states: RowStates,
  source: RowSource<R>,
): AsyncGenerator<R, void, void> {
  let requests: Requests = 'more';
  for (let row = 0; row < states.size; row++) {
    while (requests === 'more' && !hasResult(states, row)) requests = await advance(source);
    const result = await source.resultOf(row);
    if (result !== undefined) yield result;
  }
  // After its last answer, the run may still fail.
  while (requests === 'more') requests = await advance(source);
  if (requests !== 'done') throw requests;
}

function hasResult(states: RowStates, row: number): boolean {
  const state = states.of(row);
  return state === 'answered' || state === 'failed';
}

async function advance(source: Pick<RowSource<never>, 'step'>): Promise<Requests> {
  try {
    return (await source.step()) ? 'more' : 'done';
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
