import { createHash } from 'node:crypto';

const SCHEMA = 1;

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

export type Keys = ReturnType<typeof keysOf>;

export type FeedKeys = ReturnType<Keys['feed']>;

/**
 * They contain a hash of base URL and API key, but for the lane `resolve`, which is limited per IP
 * address (`egress`).
 */
export function keysOf({
  prefix = 'trdr',
  baseUrl,
  key,
  egress = 'shared',
}: {
  readonly prefix?: string | undefined;
  readonly baseUrl: string;
  readonly key: string;
  readonly egress?: string | undefined;
}) {
  const bind = hash(`trdr store\n${baseUrl}\n${key}`).slice(0, 24);
  const root = `${prefix}:${SCHEMA}:{${bind}}`;
  const address = `${prefix}:${SCHEMA}:{${hash(`trdr store\n${baseUrl}`).slice(0, 24)}}`;
  return {
    bind,
    root,
    /**
     * Holds the version of the keys. trdr does not use a store with a higher version than its own.
     */
    schema: `${prefix}:schema:{${bind}}`,
    version: SCHEMA,
    lane(name: string) {
      const lane =
        name === 'resolve' ? `${address}:lane:resolve@${egress}` : `${root}:lane:${name}`;
      return { calls: `${lane}:calls`, meta: `${lane}:meta` };
    },
    fleet: `${root}:fleet`,
    sum: (period: string) => `${root}:sum:${period}`,
    caps: `${root}:caps`,
    open: `${root}:open`,
    calls: `${root}:calls`,
    done: `${root}:done`,
    ledger: `${root}:ledger`,
    answer: (endpoint: string, subject: string) => `${root}:answer:${endpoint}:${hash(subject)}`,
    claim: (endpoint: string, subject: string) => `${root}:flight:${endpoint}:${hash(subject)}`,
    feeds: `${root}:feeds`,
    feed(id: string) {
      const feed = `${root}:feed:${id}`;
      return {
        lease: `${feed}:lease`,
        epoch: `${feed}:epoch`,
        stream: `${feed}:stream`,
        mark: `${feed}:mark`,
        info: `${feed}:info`,
        group: (name: string) => `${feed}:group:${name}:lease`,
      };
    },
  };
}

/** A feed of all tokens, or of some, whose addresses are normalized. */
export function feedIdOf({ tokens }: { readonly tokens: readonly string[] }): string {
  if (tokens.length === 0) return 'thesis';
  return `thesis-${hash([...new Set(tokens)].sort().join('\n')).slice(0, 10)}`;
}
