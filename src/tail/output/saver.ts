import type { Clock } from '../../base/clock.ts';
import { Job } from '../background-job.ts';
import type { FilePlace, Position } from '../position.ts';
import type { PostMark } from '../post-row.ts';

/**
 * The shortest time between two positions of a run whose output is a file, or a command, or
 * something else.
 */
const FILE_MS = 10_000;
const COMMAND_MS = 200;
const PIPE_MS = 1_000;
/** The bytes per millisecond that saving may write on average. */
const BYTES_PER_MS = 256;

/** The output of which positions are saved. */
interface SavedOutput {
  flush(): Promise<boolean>;
  /** The end of the lines of a file. */
  readonly place?: (() => FilePlace | undefined) | undefined;
  /**
   * What a later run needs to continue. With a state, a position covers only rows that were already
   * delivered.
   */
  readonly state?: (() => string) | undefined;
  /** Counts the rows that a command has acknowledged. */
  readonly delivered?: (() => number) | undefined;
}

/** A position, and how many rows were written when it was taken. */
interface Snapshot {
  readonly position: Position;
  readonly rows: number;
}

/**
 * Saves a position only after its rows are delivered: it must never cover a row that could still be
 * lost.
 */
export class Saver {
  /** Whether a position was saved, so that a later run can continue. */
  isSafe: boolean;
  /**
   * Whether no rows may be written now: those that were accepted are on their way into the file,
   * and the position is taken when all of them are there. Otherwise it would claim posts that the
   * lines it certifies do not have.
   */
  isHolding = false;
  #isDue = false;
  #isUrgent = false;
  #next: number;
  #job: Job<void> | undefined;
  /** The last position whose rows were all delivered, and the rows that were written after it. */
  #base: Snapshot | undefined;
  #since: PostMark[] = [];
  #unacknowledged: Snapshot | undefined;
  #taken: Promise<void> | undefined;
  #rows = 0;
  #deliveredThen = 0;
  /** Counts the rows that a command has acknowledged. */
  readonly #count: (() => number) | undefined;
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #output: SavedOutput;
  readonly #save: (position: Position) => Promise<void>;
  readonly #take: () => Position | undefined;

  /** `take` returns the current position; undefined before the start of the run is known. */
  constructor(
    clock: Clock,
    wake: () => void,
    output: SavedOutput,
    save: (position: Position) => Promise<void>,
    take: () => Position | undefined,
    isSafe: boolean,
  ) {
    this.isSafe = isSafe;
    this.#clock = clock;
    this.#wake = wake;
    this.#output = output;
    this.#save = save;
    this.#take = take;
    this.#next = clock.mono();
    this.#count = output.delivered;
  }

  wrote(rows: readonly PostMark[]): void {
    this.#rows += rows.length;
    this.#isDue = true;
    if (this.#count) for (const { id, at } of rows) this.#since.push({ id, at });
  }

  /** Called when the position has changed so that it should be saved soon. */
  saveSoon(): void {
    this.#isDue = true;
    this.#isUrgent = true;
  }

  /** Starts saving if it is due; throws if the last attempt failed. */
  step(isWriting: boolean): void {
    this.#look();
    if (this.#count && !this.#base && this.#rows === 0) this.#base = this.#snapshot();
    this.#isDue ||= this.#delivered !== this.#deliveredThen;
    if (this.#clock.mono() >= this.due(isWriting)) this.#start();
  }

  get isSaving(): boolean {
    return this.#job !== undefined;
  }

  /** While rows are being written, only what a command has acknowledged can be saved. */
  due(isWriting: boolean): number {
    if (this.#job || !this.#isDue || (isWriting && !this.#count)) return Number.POSITIVE_INFINITY;
    return this.#isUrgent ? Number.NEGATIVE_INFINITY : this.#next;
  }

  async end(): Promise<void> {
    await this.#job?.settled;
    this.#look();
    this.#start();
    await (this.#job as Job<void> | undefined)?.settled;
    this.#look();
  }

  /** Resolves when rows may be written again. */
  async untilTaken(): Promise<void> {
    while (this.isHolding) await this.#taken;
  }

  get #delivered(): number {
    return this.#count?.() ?? this.#rows;
  }

  #look(): void {
    const outcome = this.#job?.outcome;
    if (!outcome) return;
    this.#job = undefined;
    if ('error' in outcome) throw outcome.error;
  }

  #start(): void {
    this.#isDue = false;
    this.#isUrgent = false;
    // Before the start of the run is known, there is nothing to save. The first position is saved
    // as soon as it is.
    if (this.#take() === undefined) return;
    this.#job = new Job(this.#wake, () => this.#begin());
  }

  #begin(): Promise<void> {
    if (this.#output.place) return this.#saveWritten();
    const snapshot = this.#snapshot();
    if (!snapshot) return Promise.resolve();
    return this.#count ? this.#saveDelivered(snapshot) : this.#saveFlushed(snapshot);
  }

  #snapshot(): Snapshot | undefined {
    const position = this.#take();
    const state = this.#output.state?.();
    return (
      position && {
        position: { ...position, file: this.#output.place?.(), state },
        rows: this.#rows,
      }
    );
  }

  /**
   * The file has all rows when the position is taken: ids, verified and lines are of one moment.
   */
  async #saveWritten(): Promise<void> {
    this.isHolding = true;
    const isWritten = this.#output.flush();
    this.#taken = isWritten.then(
      () => {},
      () => {},
    );
    let snapshot: Snapshot | undefined;
    try {
      if (await isWritten) snapshot = this.#snapshot();
    } finally {
      this.isHolding = false;
      this.#wake();
    }
    if (snapshot) await this.#write(snapshot.position, FILE_MS);
  }

  async #saveFlushed({ position }: Snapshot): Promise<void> {
    if (await this.#output.flush()) await this.#write(position, PIPE_MS);
  }

  /**
   * Until a command acknowledges all rows of a snapshot, saves the previous one with the rows
   * acknowledged since.
   */
  async #saveDelivered(snapshot: Snapshot): Promise<void> {
    const delivered = this.#delivered;
    if (delivered >= snapshot.rows) this.#unacknowledged = snapshot;
    this.#unacknowledged ??= snapshot;
    this.#deliveredThen = delivered;
    if (delivered >= this.#unacknowledged.rows) {
      this.#since = this.#since.slice(this.#unacknowledged.rows - (this.#base?.rows ?? 0));
      this.#base = this.#unacknowledged;
      this.#unacknowledged = undefined;
    }
    if (!this.#base) return;
    const { position, rows } = this.#base;
    const since = this.#output.state ? [] : this.#since.slice(0, delivered - rows);
    const acknowledged = since.map(({ id, at }) => [id, at] as const);
    await this.#write({ ...position, ids: [...position.ids, ...acknowledged] }, COMMAND_MS);
  }

  async #write(position: Position, leastMs: number): Promise<void> {
    await this.#save(position);
    this.isSafe = true;
    this.#next = this.#clock.mono() + Math.max(leastMs, sizeOf(position) / BYTES_PER_MS);
  }
}

const sizeOf = ({ ids, state = '' }: Position): number => 40 * ids.length + state.length;
