import type { Subject } from '../../core/lookup/subject.ts';
import type { BatchLog } from '../../core/pnl/pnl-run.ts';
import { isRejected, type NumbersResult } from '../../core/pnl/request-batch.ts';
import type { ExportJournal, JournalValue } from '../../state/export-journal/journal.ts';

/** An answer that an earlier run paid for and could not read. */
export interface UnreadAnswer {
  readonly subjects: readonly Subject[];
  readonly answer: string;
}

/**
 * What is known of the subjects of a run: in memory if the run prints them, in the journal if it
 * exports them.
 */
export interface Progress {
  /**
   * Where each batch is written down before it is sent; undefined if a later run cannot continue
   * this one.
   */
  readonly log: BatchLog | undefined;
  /** The subjects without an answer, in their order. */
  open(): readonly Subject[];
  /** Takes answers that need not be requested, such as cached ones. */
  found(results: readonly NumbersResult[]): Promise<void>;
  /** Whether a lookup without a handle is an answer, and not tried again by a later run. */
  isFinal(result: NumbersResult): boolean;
  unread(): Iterable<UnreadAnswer>;
}

/** The answers themselves stay in the cache: here is only which subjects have one. */
export class MemoryProgress implements Progress {
  readonly log = undefined;
  readonly #subjects: readonly Subject[];
  readonly #found = new Set<Subject>();

  constructor(subjects: readonly Subject[]) {
    this.#subjects = subjects;
  }

  open(): readonly Subject[] {
    return this.#found.size === 0
      ? this.#subjects
      : this.#subjects.filter((each) => !this.has(each));
  }

  has(subject: Subject): boolean {
    return this.#found.has(subject);
  }

  async found(results: readonly Pick<NumbersResult, 'subject'>[]): Promise<void> {
    for (const { subject } of results) this.#found.add(subject);
  }

  isFinal(): boolean {
    return false;
  }

  unread(): readonly UnreadAnswer[] {
    return [];
  }
}

/** The journal of an export, which identifies a subject by its position in the list. */
export class JournalProgress implements Progress, BatchLog {
  readonly log: BatchLog = this;
  readonly #journal: ExportJournal;
  readonly #subjects: readonly Subject[];
  readonly #positions: ReadonlyMap<Subject, number>;

  constructor(journal: ExportJournal, subjects: readonly Subject[]) {
    this.#journal = journal;
    this.#subjects = subjects;
    this.#positions = new Map(subjects.map((subject, position) => [subject, position]));
  }

  open(): readonly Subject[] {
    return this.#at(this.#journal.free());
  }

  isFinal({ failure }: NumbersResult): boolean {
    return failure === undefined || isRejected(failure);
  }

  asking(subjects: readonly Subject[]): Promise<number> {
    return this.#journal.asking(subjects.map((subject) => this.#positionOf(subject)));
  }

  answered(batch: number, results: readonly NumbersResult[]): Promise<void> {
    return this.#journal.answered(batch, this.#valuesOf(results));
  }

  dropped(batch: number): Promise<void> {
    return this.#journal.dropped(batch);
  }

  found(results: readonly NumbersResult[]): Promise<void> {
    return this.#journal.found(this.#valuesOf(results));
  }

  lost(batch: number, cuAtMost: number, answer?: string): Promise<void> {
    return this.#journal.lost(batch, cuAtMost, answer);
  }

  *unread(): Generator<UnreadAnswer, void, void> {
    for (const { positions, answer } of this.#journal.unread())
      yield { subjects: this.#at(positions), answer };
  }

  #at(positions: readonly number[]): readonly Subject[] {
    return positions.flatMap((position) => this.#subjects[position] ?? []);
  }

  #valuesOf(results: readonly NumbersResult[]): readonly JournalValue[] {
    return results.map(({ subject, record }) => ({
      position: this.#positionOf(subject),
      value: record,
    }));
  }

  #positionOf(subject: Subject): number {
    const position = this.#positions.get(subject);
    if (position === undefined) throw new Error(`not a subject of this export: ${subject.text}`);
    return position;
  }
}
