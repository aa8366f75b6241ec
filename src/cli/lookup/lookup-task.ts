import type { Lookup, LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Planned } from '../../core/spend/plan.ts';
import type { SubjectSource } from '../../input/subject-list.ts';
import type { View } from '../../output/view.ts';
import type { LookupTally } from './tally.ts';

export const resumeCached = 'run the same command again: the answers so far are cached';
export const resumeRest = 'run the command again with the subjects that have no record yet';

/** How one subject will be looked up. */
export interface SubjectPlan {
  readonly calls: readonly Planned[];
  /** The answer, if it is known without a call. */
  readonly answer?: LookupAnswer | undefined;
  /**
   * The cheap ways to an answer, where there is a dear one too. They are tried for all subjects
   * before anything dear is paid for. Undefined if they end without an answer; `find` does not try
   * them again.
   */
  readonly findCheaply?: ((signal: AbortSignal) => Promise<LookupAnswer | undefined>) | undefined;
  /** Looks the subject up as planned. `describe` shows what the run waits for. */
  find(signal: AbortSignal, describe: (text: string) => void): LookupAnswer | Promise<LookupAnswer>;
}

/** What a command looks up, in whose words. */
export interface LookupTask<T extends object> {
  readonly view: View<T>;
  /** Where the subjects are read from, or these, if they are known. */
  readonly source: SubjectSource | readonly Subject[];
  readonly tally: LookupTally;
  readonly read: (text: string) => Subject | Promise<Subject>;
  /** What the run does, and with what: `looking up`, `subject`. */
  readonly doing: string;
  readonly noun: string;
  /** How to continue a run that reached its limit. */
  readonly resume: string;
  /** What is known of the subjects before the run, for its question and its dry run. */
  readonly remark?: (() => string | undefined) | undefined;
  /** What is printed of the records. By default, every record is. */
  readonly rows?: ((records: AsyncIterable<Lookup['record']>) => AsyncIterable<object>) | undefined;
  /** Whether even a single subject may have several rows. */
  readonly isList?: boolean;
  /** Whether nothing is sent, so that no key is needed. */
  readonly isOffline?: boolean;
  /** The plans are in the order of the subjects. */
  plan(subjects: readonly Subject[]): readonly SubjectPlan[] | Promise<readonly SubjectPlan[]>;
}
