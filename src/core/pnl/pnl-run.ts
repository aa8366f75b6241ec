import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { cu, normalHandle } from '../../contract/endpoints.ts';
import { BATCH_MAX } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports.ts';
import type { Allowance } from './allowance.ts';
import { type BatchAnswer, isRejected, lostFailure, type PnlResult, requestBatch } from './batches.ts';
import { failedPnl } from './records.ts';
import type { SavedNumbers } from './saved-numbers.ts';
import { createTurns, type Turn } from './turns.ts';

/** Where it is written down what is asked for and what came, so that a crash costs nothing twice. */
export interface BatchLog {
  asking(batch: {
    readonly positions: readonly number[];
    readonly unitsUsed: number | null;
  }): Promise<number>;
  answered(
    batch: number,
    answer: {
      readonly rows: readonly { readonly position: number; readonly value: unknown }[];
      readonly cu: number;
      readonly requestId?: string | undefined;
    },
  ): Promise<void>;
  dropped(batch: number): Promise<void>;
  /** Answers that were not requested: another machine did. */
  found(rows: readonly { readonly position: number; readonly value: unknown }[]): Promise<void>;
  /** `answer` is what came and cannot be read: it was paid for, so it is saved. */
  lost(batch: number, cuAtMost: number, answer?: string): Promise<void>;
}

export interface PnlRunOptions {
  readonly client: Pick<Client, 'call' | 'spent' | 'mayRepeat'>;
  readonly clock: Clock;
  readonly purse: Allowance;
  /** All handles, as they were given; no two are the same. */
  readonly subjects: readonly string[];
  /** The handle that is requested for a subject; the subject itself unless given. Several may have the same one. */
  readonly handleAt?: ((position: number) => string | undefined) | undefined;
  /** The positions to be asked about, in their order. */
  readonly todo: readonly number[];
  readonly log?: BatchLog | undefined;
  /** Where answers are saved for later runs. */
  readonly saved?: SavedNumbers | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A batch that may have been charged and whose answer will not come. */
export interface LostBatch {
  readonly positions: readonly number[];
  readonly cuAtMost: number;
  readonly failure: Failure;
}

/** A run through many handles. */
export interface PnlRun {
  /** The results, a batch at a time, in order. Throws what ended the run before its time. */
  results(): AsyncGenerator<readonly PnlResult[], void, void>;
  /** The positions that were not asked about. */
  left(): readonly number[];
  readonly lost: readonly LostBatch[];
}

/** How long the service may process a batch after its connection is gone, and charge it in the end. */
const WORK_MS = 30_000;
/** Answers lost one after another, after which the link is not trusted with more money. */
const LOST_IN_ROW = 2;
/** Handles refused one after another, after which the rest is taken to be refused too. */
const REFUSED_IN_ROW = 20;

/**
 * Asks for handles in batches, one after another: the next is sent when the answer of the last is safe, so
 * that at any moment no more than one batch can be paid for and not had.
 */
export function createPnlRun(options: PnlRunOptions): PnlRun {
  const { client, clock, purse, subjects, log, saved, signal } = options;
  const subjectAt = (position: number) => subjects[position] ?? '';
  const handleAt = (position: number) => options.handleAt?.(position) ?? subjectAt(position);
  const { todo, sharing } = distinct(options.todo, options.handleAt);
  const turns = createTurns({ todo, handleAt, saved, clock });
  const lost: LostBatch[] = [];

  /** Positions with those that share their handles. */
  const all = (positions: readonly number[]) =>
    sharing.size === 0
      ? positions
      : positions.flatMap((position) => [position, ...(sharing.get(position) ?? [])]);

  /** Results under the subjects as they were given, also of those that share a handle. */
  const resultsFor = (answers: readonly PnlResult[]): PnlResult[] =>
    answers.flatMap(({ position, record, failure }) =>
      all([position]).map((each) => ({
        position: each,
        record: { ...record, subject: subjectAt(each) },
        failure,
      })),
    );

  const mayBeLost = () => client.spent.atMost - client.spent.cu;

  /** As many handles as can be paid for, up to `wanted`. */
  async function affordable(wanted: number): Promise<number> {
    await purse.ready(signal);
    if (purse.room().handles < wanted && !purse.fresh) await purse.refresh(signal);
    const { handles } = purse.room();
    if (handles < 1) throw purse.shortage();
    return Math.min(wanted, handles);
  }

  const send = (asked: readonly string[], repeat: boolean): Promise<BatchAnswer> =>
    requestBatch(client, asked, { signal, saved, once: true, repeat, alone: subjects.length === 1 });

  /**
   * Whether a batch whose answer was lost is requested again: only if it probably was not charged, and if what the user
   * agreed to holds the loss beside every handle that is still to come. A repeat never takes the place of another handle.
   */
  const mayAskAgain = async (failure: Failure, unitsUsed: number | null): Promise<boolean> =>
    failure.kind !== 'answer' &&
    client.mayRepeat(cu.reveal * turns.size) &&
    (await purse.unmoved(unitsUsed, WORK_MS, signal));

  let turn: Turn | undefined;

  async function* results(): AsyncGenerator<readonly PnlResult[], void, void> {
    try {
      yield* batches();
    } finally {
      // A claim that is not ended would be renewed for ever.
      await turn?.end();
    }
  }

  async function* batches(): AsyncGenerator<readonly PnlResult[], void, void> {
    let most = BATCH_MAX;
    let lostInRow = 0;
    let refusedInRow = 0;
    // Handles of a batch whose answer was lost.
    const again = new Set<number>();
    while (turns.size > 0) {
      signal?.throwIfAborted();
      turn = await turns.next(await affordable(Math.min(most, turns.size)), signal);
      const { positions } = turn;
      const size = positions.length;
      if (turn.here.length > 0) {
        const results = resultsFor(turn.here);
        await log?.found(rowsOf(results));
        yield results;
      }
      if (size === 0) continue;
      const asked = positions.map(handleAt);
      const { unitsUsed } = purse;
      const batch = await log?.asking({ positions, unitsUsed });
      const settle = async (how: (log: BatchLog, batch: number) => Promise<void>) => {
        if (log && batch !== undefined) await how(log, batch);
      };
      const before = { cu: client.spent.cu, lost: mayBeLost() };
      let answer: BatchAnswer;
      try {
        answer = await send(
          asked,
          positions.some((position) => again.has(position)),
        ).finally(turn.end);
      } catch (error) {
        const cuAtMost = mayBeLost() - before.lost;
        if (cuAtMost > 0) {
          const failure = lostFailure(error, cuAtMost);
          await settle((to, number) => to.lost(number, cuAtMost, failure.answer));
          const repeats = ++lostInRow < LOST_IN_ROW && (await mayAskAgain(failure, unitsUsed));
          purse.lost();
          if (repeats) {
            for (const position of positions) again.add(position);
            most = size;
            continue;
          }
          turns.done(positions);
          lost.push({ positions: all(positions), cuAtMost, failure });
          yield all(positions).map((position) => ({
            position,
            record: failedPnl(subjectAt(position), failure),
            failure,
          }));
          if (lostInRow >= LOST_IN_ROW || failure.kind === 'answer') throw failure;
          continue;
        }
        if (size === 1 && isRejected(error)) {
          const [position = 0] = positions;
          const results = resultsFor([{ position, record: failedPnl('', error), failure: error }]);
          await settle((to, number) => to.answered(number, { rows: rowsOf(results), cu: 0 }));
          turns.done(positions);
          yield results;
          if (++refusedInRow >= REFUSED_IN_ROW) throw error;
          continue;
        }
        await settle((to, number) => to.dropped(number));
        most = await smaller(error, size);
        continue;
      }
      lostInRow = 0;
      refusedInRow = 0;
      most = Math.min(BATCH_MAX, most * 2);
      const spent = client.spent.cu - before.cu;
      const results = resultsFor(
        answer.answers.map((each, place) => ({ ...each, position: positions[place] ?? 0 })),
      );
      const rows = rowsOf(results);
      await settle((to, number) =>
        keep(() => to.answered(number, { rows, cu: spent, requestId: answer.requestId })),
      );
      if (mayBeLost() > before.lost) purse.lost();
      else purse.paid({ cu: spent, reveals: answer.reveals });
      turns.done(positions);
      yield results;
      // A service that returns no requested handle would be paid repeatedly for nothing.
      const [first] = results;
      if (first?.failure && results.every(({ failure }) => failure !== undefined)) throw first.failure;
    }
  }

  /** The next batch size after an error that a smaller batch may avoid; throws any other error. */
  async function smaller(error: unknown, size: number): Promise<number> {
    if (isRejected(error)) return Math.ceil(size / 2);
    if (!(error instanceof Failure) || error.kind !== 'quota') throw error;
    await purse.refresh(signal);
    if (error.code === 'REVEAL_LIMIT_REACHED') purse.countWallets();
    const { handles } = purse.room();
    if (size === 1) throw handles < 1 ? purse.shortage() : error;
    // Where the meters say that there is enough, the service counts in another way than we know.
    return handles < size ? BATCH_MAX : Math.floor(size / 2);
  }

  /** Money was paid for these rows: a disk that is full is waited for as long as that may help. */
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

  return { results, left: () => all(turns.left()), lost };
}

const rowsOf = (results: readonly PnlResult[]) =>
  results.map(({ position, record }) => ({ position, value: record }));

/** The positions whose handles differ, and for each of them the others with the same handle. */
function distinct(
  positions: readonly number[],
  handleAt: PnlRunOptions['handleAt'],
): { readonly todo: readonly number[]; readonly sharing: ReadonlyMap<number, readonly number[]> } {
  const sharing = new Map<number, number[]>();
  if (!handleAt) return { todo: positions, sharing };
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

const KEEP_TRIES = 10;
const KEEP_WAIT_MS = 1_000;
