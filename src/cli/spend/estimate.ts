import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';

export { unitsText };

/** What a run can cost, as far as it is known before it begins. */
export interface Estimate {
  readonly least: number;
  /** `null`: nobody can know, the input has no end. */
  readonly most: number | null;
}

/** What the user allows. */
export interface Consent {
  readonly confirmAbove: number;
  readonly maxCu: number | undefined;
  readonly yes: boolean;
}

/** Whether a run may begin at once, or only after a question. */
export type Verdict = 'go' | 'ask';

/**
 * A run may begin unasked when it can't cost more than `confirmAbove` (its own estimate says so, or the
 * ceiling does), when the user said yes, or when the ceiling covers all of it.
 */
export function judge({ most }: Estimate, { confirmAbove, maxCu, yes }: Consent): Verdict {
  if (yes) return 'go';
  const bound = Math.min(most ?? Number.POSITIVE_INFINITY, maxCu ?? Number.POSITIVE_INFINITY);
  if (bound <= confirmAbove) return 'go';
  // Where nobody can know the end, the ceiling is the end.
  return maxCu !== undefined && (most === null || maxCu >= most) ? 'go' : 'ask';
}

/** So many of something: `1 handle`, `2,000 handles`. */
export const countText = (count: number, what: string): string =>
  `${group(count)} ${what}${count === 1 ? '' : 's'}`;

/** An estimate as a person reads it. */
export function estimateText({ least, most }: Estimate): string {
  if (most === null) return `at least ${unitsText(least)}, with no upper bound`;
  return least === most ? unitsText(most) : `${unitsText(least)} to ${unitsText(most)}`;
}

/** The refusal where a question is due and nobody is there to answer it. */
export function needsConfirmation(estimate: Estimate, confirmAbove: number): Failure {
  const cover = `--yes or --max-cu ${estimate.most ?? 'N'}`;
  return new Failure(
    'confirm',
    `this can cost ${estimateText(estimate)}, and more than ${unitsText(confirmAbove)} is not spent unasked`,
    {
      code: 'CONFIRMATION_NEEDED',
      hint: `nobody is here to ask: run it with ${cover}, or raise confirmAbove (trdr config set confirmAbove N)`,
    },
  );
}
