import { createHash } from 'node:crypto';

const SCHEMA = 1;

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

/** The keys of a feed. */
export interface FeedKeys {
  readonly lease: string;
  readonly epoch: string;
  readonly stream: string;
  readonly mark: string;
  readonly info: string;
  /** Exists once another API key has replaced the one of this feed. */
  readonly moved: string;
}

/** The keys of the window of an endpoint's rate limit. */
interface LaneKeys {
  readonly calls: string;
  readonly meta: string;
}

/** The keys of everything that the store has for a service and an API key. */
export interface Keys {
  /** The hash of base URL and API key that the other keys contain. */
  readonly bind: string;
  readonly root: string;
  /**
   * Holds the version of the keys. trdr does not use a store with a higher version than its own.
   */
  readonly schema: string;
  readonly version: number;
  readonly fleet: string;
  readonly caps: string;
  readonly open: string;
  readonly calls: string;
  readonly done: string;
  readonly ledger: string;
  readonly feeds: string;
  readonly moved: string;
  lane(name: string): LaneKeys;
  sum(period: string): string;
  answer(endpoint: string, subject: string): string;
  claim(endpoint: string, subject: string): string;
  feed(id: string): FeedKeys;
}

/** Whose keys they are. */
interface KeyOwner {
  readonly prefix?: string | undefined;
  readonly baseUrl: string;
  readonly bind: string;
  /** The IP address from which calls leave, as the machines name it. */
  readonly egress?: string | undefined;
}

/**
 * They contain a hash of base URL and API key, but for the lane `resolve`, which is limited per IP
 * address (`egress`).
 */
export function keysOfBind({ prefix = 'trdr', baseUrl, bind, egress = 'shared' }: KeyOwner): Keys {
  const root = `${prefix}:${SCHEMA}:{${bind}}`;
  const address = `${prefix}:${SCHEMA}:{${hash(`trdr store\n${baseUrl}`).slice(0, 24)}}`;
  return {
    bind,
    root,
    schema: `${prefix}:schema:{${bind}}`,
    version: SCHEMA,
    fleet: `${root}:fleet`,
    caps: `${root}:caps`,
    open: `${root}:open`,
    calls: `${root}:calls`,
    done: `${root}:done`,
    ledger: `${root}:ledger`,
    feeds: `${root}:feeds`,
    moved: `${root}:moved`,
    lane(name) {
      const lane =
        name === 'resolve' ? `${address}:lane:resolve@${egress}` : `${root}:lane:${name}`;
      return { calls: `${lane}:calls`, meta: `${lane}:meta` };
    },
    sum: (period) => `${root}:sum:${period}`,
    answer: (endpoint, subject) => `${root}:answer:${endpoint}:${hash(subject)}`,
    claim: (endpoint, subject) => `${root}:flight:${endpoint}:${hash(subject)}`,
    feed: (id) => feedKeysOf(root, `${root}:feed:${id}`),
  };
}

export const keysOf = ({
  key,
  ...owner
}: Omit<KeyOwner, 'bind'> & { readonly key: string }): Keys =>
  keysOfBind({ ...owner, bind: hash(`trdr store\n${owner.baseUrl}\n${key}`).slice(0, 24) });

const feedKeysOf = (root: string, feed: string): FeedKeys => ({
  lease: `${feed}:lease`,
  epoch: `${feed}:epoch`,
  stream: `${feed}:stream`,
  mark: `${feed}:mark`,
  info: `${feed}:info`,
  moved: `${root}:moved`,
});

/** A feed of all tokens, or of some, whose addresses are normalized. */
export function feedIdOf({ tokens }: { readonly tokens: readonly string[] }): string {
  if (tokens.length === 0) return 'thesis';
  return `thesis-${hash([...new Set(tokens)].sort().join('\n')).slice(0, 10)}`;
}
