import { once } from '../../base/calls.ts';
import { countText } from '../../base/units.ts';
import { normalName, normalSymbol, normalToken } from '../../core/pages/filter.ts';
import type { View } from '../../output/view.ts';
import type { Filters } from '../../tail/certificate.ts';
import type { Among } from '../../tail/source.ts';
import type { FilterConditions } from '../args/list-flags.ts';
import type { Terminal } from '../run/terminal.ts';

/** The filters of a command line, for certificates: only those that are set, in a fixed order. */
export function filtersOf(conditions: Partial<FilterConditions>, among: Among = {}): Filters {
  const named: Readonly<Record<keyof (FilterConditions & Among), unknown>> = {
    symbol: setOf(conditions.symbol, normalSymbol),
    minHoldings: conditions.minHoldings,
    devOnly: conditions.devOnly || undefined,
    grep: conditions.grep?.source,
    exclude: conditions.exclude?.source,
    network: setOf(conditions.network, normalName),
    minTrade: conditions.minTrade,
    minLikes: conditions.minLikes,
    open: conditions.open || undefined,
    closed: conditions.closed || undefined,
    users: setOf(among.users, normalName),
    coins: setOf(among.coins, normalToken),
    wallets: setOf(among.wallets, normalToken),
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

const setOf = (values: readonly string[] = [], normal: (value: string) => string) =>
  values.length > 0 ? [...new Set(values.map(normal))].sort() : undefined;

/** What a tail of several authors, tokens, coins or wallets follows. */
export const severalText = (many: number, noun: string): string | undefined =>
  many < 2 ? undefined : `posts of ${countText(many, noun)}`;

/** Says once that a pattern timed out: such a post may be one that was not asked for. */
export const noticeTimeout = ({ notice }: Pick<Terminal, 'notice'>) =>
  once(({ id }: { readonly id: string | null }) =>
    notice(
      `the pattern took too long on post ${id}; such posts are printed anyway: use a simpler pattern`,
    ),
  );

/** The titles of the columns that show what a filter looks at. */
const titles: Readonly<Record<string, string>> = {
  minHoldings: 'holdings',
  minTrade: 'trade',
  minLikes: 'likes',
  open: 'position',
  closed: 'position',
  network: 'chain',
};

/**
 * A view whose tables always have the columns by which their posts are chosen, taken from `all` if
 * they are not in it.
 */
export function showingFilters<T>(
  view: View<T>,
  conditions: FilterConditions,
  all: View<T> = view,
): View<T> {
  const shown = new Set(Object.keys(filtersOf(conditions)).map((name) => titles[name]));
  const columns = all.columns
    .filter((column) => view.columns.includes(column) || shown.has(column.title))
    .map((column) => (shown.has(column.title) ? { ...column, rank: 0 } : column));
  return { ...view, columns };
}
