import { createHash } from 'node:crypto';

/** What a feed is restricted to. */
export interface FeedScope {
  /** Token addresses in normal form; empty for the whole feed. */
  readonly tokens: readonly string[];
}

/** The name of a feed in the store: readable for the whole feed, with a digest for a list of tokens. */
export function feedIdOf({ tokens }: FeedScope): string {
  if (tokens.length === 0) return 'thesis';
  const list = [...new Set(tokens)].sort().join('\n');
  return `thesis-${createHash('sha256').update(list).digest('hex').slice(0, 10)}`;
}
