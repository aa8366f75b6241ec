import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { normalHandle } from '../../contract/handles.ts';
import { BATCH_MAX, cu } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports/client.ts';
import { failedRecord } from '../lookup/lookup.ts';
import type { Allowance } from './allowance.ts';
import type { SavedNumbers } from './cached-numbers.ts';
import { createTurns } from './next-batch.ts';
import {
  type BatchAnswer,
  isRejected,
  lostFailure,
  type PnlResult,
  requestBatch,
} from './request-batch.ts';
import type { Targets } from './targets.ts';

interface Row {
  readonly position: number;
  readonly value: unknown;
}

/** So that nothing is paid twice after a crash. */
export interface BatchLog {
  asking(positions: readonly number[]): Promise<number>;
  answered(batch: number, rows: readonly Row[]): Promise<void>;
  dropped(batch: number): Promise<void>;
  found(rows: readonly Row[]): Promise<void>;
  /** `answer` is a response that could not be read. */
  lost(batch: number, cuAtMost: number, answer?: string): Promise<void>;
}

interface PnlRunOptions {
  readonly client: Pick<Client, 'call' | 'spent' | 'left' | 'affords'>;
  readonly clock: Clock;
  readonly allowance: Allowance;
  readonly targets: Pick<Targets, 'texts' | 'isMixed' | 'handleAt'>;
  readonly todo: readonly number[];
  readonly log?: BatchLog | undefined;
  readonly saved?: SavedNumbers | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface LostBatch {
  readonly positions: readonly number[];
  readonly cuAtMost: number;
  readonly failure: Failure;
}

/** The service may still process and charge a batch after the connection broke. */
const WORK_MS = 30_000;
/** Then the run ends: the connection is too unreliable for more paid calls. */
const LOST_IN_ROW = 2;
/** Then the run ends, because the service would probably reject all others too. */
const REFUSED_IN_ROW = 20;

export type PnlRun = ReturnType<typeof createPnlRun>;

/** Each batch is sent only after the previous answers were saved, so a crash loses at most one. */
export function createPnlRun(options: PnlRunOptions) {
  const { client, clock, allowance, targets, log, saved, signal } = options;
  const subjectAt = (position: number) => targets.texts[position] ?? '';
  const handleAt = (position: number) => targets.handleAt(position) ?? subjectAt(position);
  const { todo, sharing } = groupSameHandles(options.todo, targets);
  const turns = createTurns(todo, handleAt, saved, clock);
  const lost: LostBatch[] = [];

  /** With the positions of all other subjects with the same handles. */
  const all = (positions: readonly number[]) =>
    sharing.size === 0
      ? positions
      : positions.flatMap((position) => [position, ...(sharing.get(position) ?? [])]);

  /** Each with the subject as the user wrote it. */
  const resultsFor = (answers: readonly PnlResult[]): PnlResult[] =>
    answers.flatMap(({ position, record, failure }) =>
      all([position]).map((each) => ({
        position: each,
        record: { ...record, subject: subjectAt(each) },
        failure,
      })),
    );

  const mayBeLost = () => client.spent.atMost - client.spent.cu;

  /** If probably not charged, and the confirmed cost covers the loss and all remaining handles. */
  const mayAskAgain = async (failure: Failure, unitsUsed: number | null): Promise<boolean> =>
    !isUnreadable(failure) &&
    client.affords(cu.reveal * turns.left().length) &&
    (await allowance.unmoved(unitsUsed, WORK_MS, signal));

  let most = BATCH_MAX;
  let lostInRow = 0;
  let refusedInRow = 0;
  /** Positions of batches whose answers were lost and that are requested again. */
  const again = new Set<number>();

  /** Not always in the order of the subjects. Throws the failure that ended the run early. */
  async function* results(): AsyncGenerator<readonly PnlResult[], void, void> {
    for (let size = turns.left().length; size > 0; size = turns.left().length) {
      signal?.throwIfAborted();
      const afforded = await allowance.affordable(Math.min(most, size), signal);
      const { positions, here, end } = await turns.next(afforded, signal);
      try {
        if (here.length > 0) {
          const found = resultsFor(here);
          await log?.found(rowsOf(found));
          yield found;
        }
        if (positions.length > 0) yield* request(positions, end);
      } finally {
        // Claims would otherwise be renewed forever.
        await end();
      }
    }
  }

  async function* request(positions: readonly number[], endClaims: () => Promise<void>) {
    const { unitsUsed } = client.left;
    const batch = (await log?.asking(positions)) ?? 0;
    const lostBefore = mayBeLost();
    let answer: BatchAnswer;
    try {
      const repeat = positions.some((position) => again.has(position));
      const alone = targets.texts.length === 1;
      const how = { signal, saved, now: clock.now, once: true, repeat, alone };
      answer = await requestBatch(client, positions.map(handleAt), how);
    } catch (error) {
      await endClaims();
      const cuAtMost = mayBeLost() - lostBefore;
      if (cuAtMost > 0)
        return yield* lose(positions, batch, lostFailure(error, cuAtMost), cuAtMost, unitsUsed);
      const [position = 0] = positions;
      if (positions.length > 1 || !isRejected(error)) {
        await log?.dropped(batch);
        most = await allowance.smallerBatch(error, positions.length, signal);
        return;
      }
      const refused = resultsFor([{ position, record: failedRecord('', error), failure: error }]);
      await log?.answered(batch, rowsOf(refused));
      turns.done(positions);
      yield refused;
      if (++refusedInRow >= REFUSED_IN_ROW) throw error;
      return;
    }
    lostInRow = 0;
    refusedInRow = 0;
    most = Math.min(BATCH_MAX, most * 2);
    const answered = resultsFor(
      answer.answers.map((each, place) => ({ ...each, position: positions[place] ?? 0 })),
    );
    try {
      await keep(async () => log?.answered(batch, rowsOf(answered)));
    } finally {
      await answer.save();
      await endClaims();
    }
    turns.done(positions);
    yield answered;
    // If no requested handle is returned, the run would pay for further batches without a result.
    const [first] = answered;
    if (first?.failure && answered.every(({ failure }) => failure !== undefined))
      throw first.failure;
  }

  async function* lose(
    positions: readonly number[],
    batch: number,
    failure: Failure,
    cuAtMost: number,
    unitsUsed: number | null,
  ) {
    await log?.lost(batch, cuAtMost, failure.answer);
    const repeats = ++lostInRow < LOST_IN_ROW && (await mayAskAgain(failure, unitsUsed));
    if (repeats) {
      for (const position of positions) again.add(position);
      most = positions.length;
      return;
    }
    turns.done(positions);
    lost.push({ positions: all(positions), cuAtMost, failure });
    yield all(positions).map((position) => ({
      position,
      record: failedRecord(subjectAt(position), failure),
      failure,
    }));
    if (lostInRow >= LOST_IN_ROW || isUnreadable(failure)) throw failure;
  }

  /** The rows were paid for, so try again if the disk is full. */
  async function keep(write: () => Promise<void>): Promise<void> {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (tries >= KEEP_TRIES || signal?.aborted) throw error;
        await clock.sleep(KEEP_WAIT_MS);
      }
    }
  }

  return {
    results,
    left: () => all(turns.left()),
    lost,
  };
}

/** Another answer would probably be the same. */
const isUnreadable = ({ kind, cause }: Failure) =>
  kind === 'answer' && !(cause instanceof Failure && cause.retryable);

const rowsOf = (results: readonly PnlResult[]) =>
  results.map(({ position, record }) => ({ position, value: record }));

const KEEP_TRIES = 10;
const KEEP_WAIT_MS = 1_000;

/** Two subjects have the same handle only if one of them is a wallet or an id. */
function groupSameHandles(
  positions: readonly number[],
  { isMixed, handleAt }: Pick<Targets, 'isMixed' | 'handleAt'>,
): { readonly todo: readonly number[]; readonly sharing: ReadonlyMap<number, readonly number[]> } {
  const sharing = new Map<number, number[]>();
  if (!isMixed) return { todo: positions, sharing };
  const first = new Map<string, number>();
  const todo = positions.filter((position) => {
    const handle = normalHandle(handleAt(position) ?? '');
    const earlier = first.get(handle);
    if (earlier === undefined) first.set(handle, position);
    else sharing.set(earlier, [...(sharing.get(earlier) ?? []), position]);
    return earlier === undefined;
  });
  return { todo, sharing };
}
