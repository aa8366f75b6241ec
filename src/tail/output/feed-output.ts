import type { Clock } from '../../base/clock.ts';
import { Job } from '../background-job.ts';
import type { LastPost } from '../health.ts';
import type { OutputPorts, OutputStages, Writer } from '../ports.ts';
import type { Position } from '../position.ts';
import type { PostMark, TailRow } from '../post-row.ts';
import { Saver } from './saver.ts';

interface OutputParts extends OutputPorts {
  readonly clock: Clock;
  /** Called when something has happened after which `step` may do more. */
  readonly wake: () => void;
  readonly count?: number | undefined;
  /** Returns the present position of the source; undefined before its start is known. */
  readonly take: () => Position | undefined;
  /** Whether a later run can continue already, because this run continues from a position. */
  readonly isSafe: boolean;
}

/**
 * The output of one run, into which its source pushes rows: one write at a time, and positions of
 * what was written.
 */
export class FeedOutput {
  /** Whether the reader has closed the output. */
  closed = false;
  /** Whether a write has failed. After that, neither rows nor a position must be written. */
  failed = false;
  /**
   * The number of rows written whose posts are older than the start of the run; `rows` excludes
   * them.
   */
  earlier = 0;
  lastPost: LastPost | null = null;
  #rows = 0;
  #printed = 0;
  #pending = 0;
  #left: number;
  #job: Job<boolean> | undefined;
  #isDelivering = false;
  readonly #parts: OutputParts;
  readonly #writer: Writer;
  readonly #stages: OutputStages | undefined;
  readonly #saver: Saver | undefined;
  readonly #receipts: Receipts;

  constructor(parts: OutputParts) {
    this.#parts = parts;
    this.#writer = parts.writer;
    this.#stages = parts.stages;
    this.#receipts = new Receipts(parts.writer, parts.wake, parts.stages !== undefined);
    this.#left = parts.stages
      ? this.#leftOf(parts.stages)
      : (parts.count ?? Number.POSITIVE_INFINITY);
    this.#saver = this.#createSaver();
  }

  #createSaver(): Saver | undefined {
    const { save, clock, wake, take, isSafe } = this.#parts;
    if (!save) return undefined;
    const writer = this.#writer;
    const stages = this.#stages;
    const saved = {
      flush: () => writer.flush(),
      place: writer.place && (() => writer.place?.()),
      state: stages && (() => stages.state()),
      delivered: this.#receipts.isKept ? () => this.#receipts.posts() : undefined,
    };
    return new Saver(clock, wake, saved, save, take, isSafe);
  }

  /** The rows that were written, and that have left this process. */
  get rows(): number {
    return Math.max(0, this.#rows - (this.#writer.pending?.() ?? 0));
  }

  /**
   * How many rows may be pushed now. A stage may pass on fewer of them, and then more may be pushed
   * later.
   */
  get left(): number {
    return this.#left;
  }

  /** How many records of stages were written; null without stages, which print each row. */
  get printed(): number | null {
    if (!this.#stages) return null;
    return Math.max(0, this.#printed - (this.#writer.pending?.() ?? 0));
  }

  /** How many rows were held back. */
  get held(): number {
    return this.#stages?.held ?? 0;
  }

  /** Takes a row that will be pushed. */
  takeOne(): void {
    this.#left--;
  }

  /**
   * Whether rows count as delivered only when a command has acknowledged them: it gets its last
   * batch at the end.
   */
  get isAcknowledged(): boolean {
    return this.#receipts.isKept;
  }

  /**
   * Whether a later run can continue. Before that, nothing must be printed: a later run would begin
   * with newer posts.
   */
  get isSafe(): boolean {
    return this.#saver?.isSafe ?? true;
  }

  /**
   * Whether the position is about to be taken: the rows that were accepted are on their way into
   * the file.
   */
  get isHolding(): boolean {
    return this.#saver?.isHolding ?? false;
  }

  /**
   * Lets the saver make a step; returns whether rows may be pushed. Throws the error of a failed
   * write.
   */
  step(): boolean {
    const isBusy = this.settle();
    this.#saver?.step(isBusy);
    return !isBusy && !this.isHolding;
  }

  /** When `step` must be called again even if nothing wakes the run. */
  get due(): number {
    return this.#saver?.due(this.#isWriting) ?? Number.POSITIVE_INFINITY;
  }

  /** Called when the position has changed so that it should be saved soon. */
  saveSoon(): void {
    this.#saver?.saveSoon();
  }

  /** The position has changed, and is saved when it is due. */
  saveWhenDue(): void {
    this.#saver?.wrote([]);
  }

  /** Saves the first position, unless that is in progress. */
  saveFirst(): void {
    if (this.#saver && !this.#saver.isSaving) this.#saver.saveSoon();
  }

  /** Saves the present position, and waits for it. */
  async save(): Promise<void> {
    await this.#saver?.end();
  }

  /** Counts a write that has ended, or throws its error; returns whether one is in progress. */
  settle(): boolean {
    const waiting = this.#job ? undefined : this.#parts.disk?.wait();
    if (waiting) this.#start(() => waiting.then(() => true), 0);
    const outcome = this.#job?.outcome;
    if (outcome) {
      this.#job = undefined;
      if ('error' in outcome) {
        this.failed = true;
        throw outcome.error;
      }
      this.#count(outcome.value, this.#pending);
    }
    return this.#isWriting;
  }

  /**
   * Writes rows, whose ids the source has noted in the same step. With `counted` false, they count
   * as `earlier`.
   */
  push(rows: readonly TailRow[], counted = true): void {
    if (rows.length === 0) return;
    const many = counted ? rows.length : 0;
    this.earlier += rows.length - many;
    if (counted) this.#saver?.wrote(rows);
    const written = this.#write(rows);
    if (typeof written === 'boolean') this.#count(written, many);
    else this.#start(async () => written, many);
  }

  /**
   * The same for a source that may wait: `note` notes the ids when the rows are pushed. Returns
   * whether the output still has a reader.
   */
  async deliver(rows: readonly TailRow[], note: () => void = () => {}): Promise<boolean> {
    if (rows.length === 0) return !this.closed;
    await this.#saver?.untilTaken();
    this.#isDelivering = true;
    try {
      note();
      this.#left -= rows.length;
      this.#saver?.wrote(rows);
      this.#count(await this.#write(rows), rows.length);
    } catch (error) {
      this.failed = true;
      throw error;
    } finally {
      this.#isDelivering = false;
    }
    return !this.closed;
  }

  /** Starts to wait until the operating system has received all rows. */
  drain(): void {
    this.#start(() => this.#writer.flush(), 0);
  }

  async settled(): Promise<void> {
    await this.#job?.settled;
  }

  /**
   * The end of every run, 1: from now on, a full disk is a failure, and a command gets its last
   * batch.
   */
  async stop(): Promise<void> {
    this.#parts.disk?.close();
    await this.#writer.end?.();
  }

  /**
   * 2, when the work of the source has settled: saves the last position, unless rows may be missing
   * that it would cover.
   */
  async finish(): Promise<void> {
    if (this.failed || this.settle() || this.closed) return;
    await this.#saver?.end();
    await this.#writer.flush();
  }

  get #isWriting(): boolean {
    return this.#job !== undefined || this.#isDelivering;
  }

  #write(posts: readonly TailRow[]): boolean | Promise<boolean> {
    const at = posts.findLast((row) => row.at !== null)?.at ?? null;
    if (at !== null) this.lastPost = { at, lagMs: Math.max(0, this.#parts.clock.now() - at) };
    const rows = this.#stages ? this.#stages.pass(posts) : posts;
    if (this.#stages) this.#left = this.#leftOf(this.#stages);
    this.#receipts.wrote(posts, rows);
    if (rows.length === 0) return true;
    try {
      return this.#writer.write(rows);
    } catch (error) {
      this.failed = true;
      throw error;
    }
  }

  /**
   * A position has the state of the stages, so it covers all rows of a write or none: a slow command
   * gets one at a time, or what it has acknowledged of a long walk would be handed over again.
   */
  #leftOf({ left }: OutputStages): number {
    return this.#receipts.isKept ? Math.min(left, 1) : left;
  }

  #start(work: () => Promise<boolean>, rows: number): void {
    this.#pending = rows;
    this.#job = new Job(this.#parts.wake, work);
  }

  #count(isOpen: boolean, rows: number): void {
    if (isOpen) {
      this.#rows += rows;
      this.#printed = this.#stages?.passed ?? 0;
    } else this.closed = true;
  }
}

/**
 * How many posts a command has acknowledged: it counts the rows that it received, which are records
 * of several posts with confluences, and of some posts with a cooldown.
 */
class Receipts {
  #posts = 0;
  #records = 0;
  #done = 0;
  /** The numbers after each write that was not acknowledged. */
  readonly #marks: { readonly posts: number; readonly records: number }[] = [];
  readonly #acknowledged: (() => number) | undefined;

  readonly #isMapped: boolean;

  constructor(writer: Writer, wake: () => void, isMapped: boolean) {
    this.#acknowledged = writer.delivered?.(wake);
    this.#isMapped = isMapped;
  }

  /** Whether the writer acknowledges rows. */
  get isKept(): boolean {
    return this.#acknowledged !== undefined;
  }

  wrote(posts: readonly PostMark[], records: readonly PostMark[]): void {
    if (!this.isKept || !this.#isMapped) return;
    this.#posts += posts.length;
    this.#records += records.length;
    this.#marks.push({ posts: this.#posts, records: this.#records });
  }

  /** The posts whose records were all acknowledged. */
  posts(): number {
    const acknowledged = this.#acknowledged?.() ?? 0;
    if (!this.#isMapped) return acknowledged;
    let [first] = this.#marks;
    while (first && first.records <= acknowledged) {
      this.#done = first.posts;
      this.#marks.shift();
      [first] = this.#marks;
    }
    return this.#done;
  }
}
