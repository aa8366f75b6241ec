import { addTo } from '../../base/add-to.ts';
import type { AuthorPosition, TokenAuthor } from '../../contract/records/position.ts';
import { normalName } from '../pages/filter.ts';

/** The authors of positions in one token, each once, the one with the newest post first. */
export function authorsOf(positions: readonly AuthorPosition[]): TokenAuthor[] {
  const authors = new Map<string, AuthorPosition[]>();
  // The positions are in the order of their newest posts, so an author's last one comes first.
  for (const position of positions) addTo(authors, normalName(position.authorId), position);
  return [...authors.values()].flatMap(([last, ...others]) =>
    last === undefined ? [] : [authorOf(last, others)],
  );
}

function authorOf(last: AuthorPosition, others: readonly AuthorPosition[]): TokenAuthor {
  const { authorId, authorHandle, status, tradeUsd, holdingsUsd, pnlUsd, pnlPct } = last;
  const all = [last, ...others];
  return {
    authorId,
    authorHandle,
    firstAt: Math.min(...all.map(({ firstAt }) => firstAt)),
    lastAt: last.lastAt,
    posts: all.reduce((sum, { posts }) => sum + posts, 0),
    positions: all.length,
    status,
    tradeUsd,
    holdingsUsd,
    pnlUsd,
    pnlPct,
    isDev: all.some(({ isDev }) => isDev),
  };
}
