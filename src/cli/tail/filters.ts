import { normalSymbol } from '../../core/pages/filter.ts';
import type { Filters } from '../../tail/certificate.ts';
import type { FilterConditions } from '../args/list-flags.ts';

/** The filters of a command line, for certificates: only those that are set, in a fixed order. */
export function filtersOf({
  symbol = [],
  minHoldings,
  devOnly,
  grep,
  exclude,
}: FilterConditions): Filters {
  const named: Readonly<Record<keyof FilterConditions, unknown>> = {
    symbol: symbol.length > 0 ? [...new Set(symbol.map(normalSymbol))].sort() : undefined,
    minHoldings,
    devOnly: devOnly || undefined,
    grep: grep?.source,
    exclude: exclude?.source,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
