import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { type Estimate, estimateText } from './estimate.ts';

/** What the user has allowed in advance. */
export interface Consent {
  readonly confirmAbove: number;
  readonly maxCu: number | undefined;
  readonly yes: boolean;
}

/**
 * Whether a run may start without asking: the run costs at most `confirmAbove`, or the user has agreed to any
 * cost with --yes or to a limit with --max-cu.
 */
export const mayStart = ({ most }: Estimate, { confirmAbove, maxCu, yes }: Consent): boolean =>
  yes || maxCu !== undefined || most <= confirmAbove;

/** The failure of a run that needs a confirmation but is not interactive. */
export function needsConfirmation(
  estimate: Estimate,
  confirmAbove: number,
  agent: string | undefined,
): Failure {
  return new Failure(
    'confirm',
    `estimated cost ${estimateText(estimate)} exceeds the confirmation threshold (${unitsText(confirmAbove)})`,
    {
      code: 'CONFIRMATION_NEEDED',
      hint:
        agent === undefined
          ? `not running interactively: pass --yes or --max-cu ${estimate.most}, or raise confirmAbove (trdr config set confirmAbove N)`
          : `only a person can agree to this cost, not an agent (${agent}): let them decide on --max-cu ${estimate.most}, or set up a profile with a budget (trdr help money)`,
    },
  );
}

/** The failure of a run that the user declined to confirm. */
export const declined = () =>
  new Failure('confirm', 'cancelled; nothing was charged', { code: 'NOT_CONFIRMED' });
