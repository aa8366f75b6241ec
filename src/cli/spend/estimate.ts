import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';

export { unitsText };

/** What a run can cost, as far as it is known before it begins. */
export interface Estimate {
  readonly least: number;
  /** Null if the input has no known end. */
  readonly most: number | null;
}

/** What the user allows. */
export interface Consent {
  readonly confirmAbove: number;
  readonly maxCu: number | undefined;
  readonly yes: boolean;
}

/** Whether a run may start at once, or only after a confirmation. */
export type SpendVerdict = 'go' | 'ask';

/**
 * A run may start without a confirmation if it cannot cost more than `confirmAbove` (by its estimate or by its limit), if
 * the user passed --yes, or if the limit covers all of it.
 */
export function judge({ most }: Estimate, { confirmAbove, maxCu, yes }: Consent): SpendVerdict {
  if (yes) return 'go';
  const bound = Math.min(most ?? Number.POSITIVE_INFINITY, maxCu ?? Number.POSITIVE_INFINITY);
  if (bound <= confirmAbove) return 'go';
  // A run without a known end ends at its limit.
  return maxCu !== undefined && (most === null || maxCu >= most) ? 'go' : 'ask';
}

/** So many of something: `1 handle`, `2,000 handles`. */
export const countText = (count: number, what: string): string =>
  `${group(count)} ${what}${count === 1 ? '' : 's'}`;

/** An estimate as a person reads it. */
export function estimateText({ least, most }: Estimate): string {
  if (most === null) return `at least ${unitsText(least)}, with no upper bound`;
  return least === most ? unitsText(most) : `${group(least)}–${unitsText(most)}`;
}

/** The failure of a run that needs a confirmation and is not interactive. */
export function needsConfirmation(estimate: Estimate, confirmAbove: number): Failure {
  const cover = `--yes or --max-cu ${estimate.most ?? 'N'}`;
  return new Failure(
    'confirm',
    `estimated cost ${estimateText(estimate)} exceeds the confirmation threshold (${unitsText(confirmAbove)})`,
    {
      code: 'CONFIRMATION_NEEDED',
      hint: `not running interactively: pass ${cover}, or raise confirmAbove (trdr config set confirmAbove N)`,
    },
  );
}
