import { group, unitsText } from '../base/units.ts';

/** A range of costs as text: `100–200 CU`. */
export const estimateText = (cost: { readonly least: number; readonly most: number }): string =>
  cost.least === cost.most ? unitsText(cost.most) : `${group(cost.least)}–${unitsText(cost.most)}`;

const MILLION = 1_000_000;

/** What is left: `19.9M CU left` (from 1M on, rounded down to 0.1M) or `450,000 CU left`. */
export function balanceText(units: number): string {
  const tenths = Math.floor(units / (MILLION / 10));
  return units < MILLION
    ? `${unitsText(Math.floor(units))} left`
    : `${group((tenths / 10).toFixed(1))}M CU left`;
}
