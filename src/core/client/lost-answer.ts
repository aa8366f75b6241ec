import { Failure } from '../../base/failure.ts';
import type { Client } from '../../contract/ports/client.ts';

/** The most CU that a call has cost although its answer was lost; 0 if it was not charged. */
export const lossOf = (error: unknown): number => (error instanceof Failure ? error.cuLost : 0);

/** How often a run asks again after a lost answer, and what that may cost. */
interface LossRule {
  /** The answers that were lost in a row. */
  readonly lost: number;
  /** How often it may be asked in all. */
  readonly tries: number;
  /** The most CU that asking again, and what is left of the run, may cost. */
  readonly cost: number;
}

/**
 * Whether a call whose answer was lost may be sent again. The confirmed cost must cover the loss,
 * which counts as spent, and the repetition.
 */
export const mayAskAgain = (
  client: Pick<Client, 'affords'>,
  { lost, tries, cost }: LossRule,
): boolean => lost < tries && client.affords(cost);
