import { createHash } from 'node:crypto';

interface FeedScope {
  /** Normalized token addresses; empty for the whole feed. */
  readonly tokens: readonly string[];
}

/** The name of a feed in the store. The name of a restricted feed contains a digest of its tokens. */
export function feedIdOf({ tokens }: FeedScope): string {
  if (tokens.length === 0) return 'thesis';
  const list = [...new Set(tokens)].sort().join('\n');
  return `thesis-${createHash('sha256').update(list).digest('hex').slice(0, 10)}`;
}
