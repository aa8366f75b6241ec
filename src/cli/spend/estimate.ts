import { Failure } from '../../base/failure.ts';
import { group, unitsText } from '../../base/units.ts';

/** The estimated cost of a run. */
export interface Estimate {
  readonly least: number;
  readonly most: number;
  /** The number of wallet reveals that the run may use. If fewer are left, the question states it. */
  readonly reveals?: number | undefined;
}

/** What the user has allowed in advance. */
export interface Consent {
  readonly confirmAbove: number;
  readonly maxCu: number | undefined;
  readonly yes: boolean;
}

/**
 * Whether a run may start without asking: it costs at most `confirmAbove`, or the user has agreed to any cost
 * with --yes, or to a limit with --max-cu.
 */
export const mayStart = ({ most }: Estimate, { confirmAbove, maxCu, yes }: Consent): boolean =>
  yes || maxCu !== undefined || most <= confirmAbove;

/** An estimate as text. */
export const estimateText = ({ least, most }: Estimate): string =>
  least === most ? unitsText(most) : `${group(least)}–${unitsText(most)}`;

const MILLION = 1_000_000;

/** What is left, rounded down to 0.1M: `19.9M CU left`. */
export function balanceText(units: number): string {
  const tenths = Math.floor(units / (MILLION / 10));
  return units < MILLION
    ? `${unitsText(Math.floor(units))} left`
    : `${group((tenths / 10).toFixed(1))}M CU left`;
}

/** The failure of a run that needs a confirmation but is not interactive. */
export function needsConfirmation(estimate: Estimate, confirmAbove: number): Failure {
  return new Failure(
    'confirm',
    `estimated cost ${estimateText(estimate)} exceeds the confirmation threshold (${unitsText(confirmAbove)})`,
    {
      code: 'CONFIRMATION_NEEDED',
      hint: `not running interactively: pass --yes or --max-cu ${estimate.most}, or raise confirmAbove (trdr config set confirmAbove N)`,
    },
  );
}

/** The failure of a run that the user declined to confirm. */
export const declined = () =>
  new Failure('confirm', 'cancelled; nothing was sent or charged', { code: 'NOT_CONFIRMED' });
