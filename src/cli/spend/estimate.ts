import { group, unitsText } from '../../base/units.ts';

/** The estimated cost of a run in CU. */
export interface Estimate {
  readonly least: number;
  readonly most: number;
  /**
   * The number of wallet reveals that the run may use. If fewer are left, the question before the run states how
   * many.
   */
  readonly reveals?: number | undefined;
}

/** An estimate as text. */
export const estimateText = ({ least, most }: Estimate): string =>
  least === most ? unitsText(most) : `${group(least)}–${unitsText(most)}`;

const MILLION = 1_000_000;

/** What is left: `19.9M CU left` (from 1M on, rounded down to 0.1M) or `450,000 CU left`. */
export function balanceText(units: number): string {
  const tenths = Math.floor(units / (MILLION / 10));
  return units < MILLION
    ? `${unitsText(Math.floor(units))} left`
    : `${group((tenths / 10).toFixed(1))}M CU left`;
}
