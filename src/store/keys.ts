import { createHash } from 'node:crypto';

/** The version of the keys and their contents. trdr does not use a store with a higher version. */
export const SCHEMA = 1;
const DEFAULT_PREFIX = 'trdr';

/**
 * The names of the keys in the store for one base URL and API key. They contain a hash of both, except for the
 * lane `resolve`, which machines with different API keys share.
 */
export interface Keys {
  /** A hash that identifies the base URL and API key without revealing them. */
  readonly bind: string;
  readonly schema: string;
  lane(name: string): { readonly calls: string; readonly meta: string };
  readonly fleet: string;
  sum(period: string): string;
  readonly caps: string;
  readonly open: string;
  readonly calls: string;
  readonly done: string;
  readonly ledger: string;
  answer(endpoint: string, subject: string): string;
  claim(endpoint: string, subject: string): string;
  feed(id: string): FeedKeys;
  readonly feeds: string;
  readonly root: string;
}

/** Keys of one feed. */
export interface FeedKeys {
  readonly lease: string;
  readonly epoch: string;
  readonly stream: string;
  readonly mark: string;
  readonly info: string;
  group(name: string): string;
}

interface KeySettings {
  readonly prefix?: string | undefined;
  readonly baseUrl: string;
  readonly key: string;
  /** A name for the public IP address of this machine, because the service limits `resolve` per address. */
  readonly egress?: string | undefined;
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

export function keysOf({ prefix = DEFAULT_PREFIX, baseUrl, key, egress = 'shared' }: KeySettings): Keys {
  const bind = hash(`trdr store\n${baseUrl}\n${key}`).slice(0, 24);
  const root = `${prefix}:${SCHEMA}:{${bind}}`;
  const address = `${prefix}:${SCHEMA}:{${hash(`trdr store\n${baseUrl}`).slice(0, 24)}}`;
  const pair = (name: string) => ({ calls: `${name}:calls`, meta: `${name}:meta` });
  return {
    bind,
    root,
    schema: `${prefix}:schema:{${bind}}`,
    lane: (name) => pair(name === 'resolve' ? `${address}:lane:resolve@${egress}` : `${root}:lane:${name}`),
    fleet: `${root}:fleet`,
    sum: (period) => `${root}:sum:${period}`,
    caps: `${root}:caps`,
    open: `${root}:open`,
    calls: `${root}:calls`,
    done: `${root}:done`,
    ledger: `${root}:ledger`,
    answer: (endpoint, subject) => `${root}:answer:${endpoint}:${hash(subject)}`,
    claim: (endpoint, subject) => `${root}:flight:${endpoint}:${hash(subject)}`,
    feeds: `${root}:feeds`,
    feed(id) {
      const feed = `${root}:feed:${id}`;
      return {
        lease: `${feed}:lease`,
        epoch: `${feed}:epoch`,
        stream: `${feed}:stream`,
        mark: `${feed}:mark`,
        info: `${feed}:info`,
        group: (name) => `${feed}:group:${name}:lease`,
      };
    },
  };
}
