import { Failure } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import { NOT_ASKED } from '../../core/lookup/lookup.ts';
import { span } from '../../output/format/time.ts';
import { NAMES_SHOWN, namesText } from '../../output/notices.ts';
import type { ExitCode } from '../exit.ts';
import type { Tally } from '../run/job.ts';
import type { Terminal } from '../run/terminal.ts';

/** What is known of one subject: found, not found, or no answer. */
export type LookupOutcome =
  | { readonly found: true; readonly failure?: unknown; readonly time?: number }
  | { readonly found: false; readonly code: string }
  | { readonly found: null; readonly failure?: Failure | undefined };

/** A younger record is as good as one of this run. */
const SECOND_MS = 1_000;

/** What the lookups of a run have found so far. */
export class LookupTally implements Tally {
  found = 0;
  failed = 0;
  readonly #isStrict: boolean;
  #missing = 0;
  #pending = 0;
  #first: Failure | undefined;
  #local: Failure | undefined;
  /** What ended the reading of a record early. */
  #partial: unknown;
  readonly #began: number;
  #oldest = Number.POSITIVE_INFINITY;

  /**
   * `isStrict`: results that were not found or failed end the run with a failure. With `began`, the
   * text states how much older than the run the oldest record is.
   */
  constructor(isStrict: boolean, began = Number.NEGATIVE_INFINITY) {
    this.#isStrict = isStrict;
    this.#began = began;
  }

  add(answer: LookupOutcome): void {
    if (answer.found === true) {
      this.found++;
      this.#partial ??= answer.failure;
      this.#oldest = Math.min(this.#oldest, answer.time ?? Number.POSITIVE_INFINITY);
    } else if (answer.found === null && answer.failure?.code === NOT_ASKED) this.#missing++;
    else if (answer.found === null) {
      this.failed++;
      this.#first ??= answer.failure;
      if (answer.failure?.kind === 'local') this.#local ??= answer.failure;
    } else if (answer.code === 'PENDING') this.#pending++;
    else this.#missing++;
  }

  /** Includes the subjects without an answer yet. */
  get missing(): number {
    return this.#missing + this.#pending;
  }

  get total(): number {
    return this.found + this.missing + this.failed;
  }

  get text(): string {
    const parts = [`${this.found} of ${countText(this.total, 'subject')} found`];
    if (this.#pending > 0) parts.push(`${this.#pending} without an answer yet`);
    if (this.failed > 0) parts.push(`${this.failed} failed`);
    const age = this.#began - this.#oldest;
    if (age >= SECOND_MS) parts.push(`read up to ${span(age)} ago`);
    return parts.join(', ');
  }

  /**
   * Throws the first failure if all subjects failed, and a failure of this machine, such as a full
   * disk, if any did.
   */
  exit(): ExitCode {
    const { found, failed, total } = this;
    const local = this.#local;
    const missing = this.#missing;
    const pending = this.#pending;
    if (this.#first && failed === total) throw this.#first;
    if (this.#partial !== undefined) throw this.#partial;
    if (local)
      throw new Failure('local', `${failed} of ${total} subjects failed: ${local.message}`, local);
    if (this.#isStrict && found < total) {
      const waiting = pending > 0 ? `${pending} without an answer yet, ` : '';
      throw new Failure(
        'strict',
        `${missing} missing, ${waiting}${failed} failed, ${found} found`,
        {
          code: 'STRICT',
          hint: 'the records show the result for each subject; omit --strict to accept incomplete results',
        },
      );
    }
    if (found > 0) return 0;
    if (pending > 0) return 8;
    return missing > 0 ? 3 : 0;
  }
}

/** Whether a failure means that an allowance or a limit is used up (exit code 6). */
export const isSpent = (error: unknown): error is Failure =>
  error instanceof Failure && (error.kind === 'quota' || error.kind === 'limit');

/** `journal` is the path of a journal that contains all names. */
export function reportSkipped(
  notice: Terminal['notice'],
  names: readonly string[],
  count: string,
  journal?: string,
): void {
  if (names.length === 0) return;
  const isCut = names.length > NAMES_SHOWN;
  const where = journal === undefined || !isCut ? '' : `; all names are in ${journal}`;
  notice(`skipped ${count}: ${namesText(names)}${where}`);
}
