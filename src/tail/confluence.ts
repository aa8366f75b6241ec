import { parseJson, stringifyJson } from '../base/json.ts';
import { isRecord, plainJson } from '../base/json-object.ts';
import { damagedCheckpoint } from './position.ts';
import { nthNewest, type PostFields, type TailRow } from './post-row.ts';

/** So many different authors must have posted about one token within this time. */
export interface ConfluenceRule {
  readonly authors: number;
  readonly withinMs: number;
}

/** The rule as a part of the name of a feed: a tail with another rule cannot continue. */
export const confluenceName = (rule: ConfluenceRule | undefined): string =>
  rule ? ` confluence ${rule.authors}/${rule.withinMs}ms` : '';

export interface ConfluenceFields {
  readonly token: readonly [address: string, symbol: string, network: string];
  /** What identifies the author: the first of these that a post has. */
  readonly author: readonly string[];
  /** The name of the author: the first of these that a post has. */
  readonly handle: readonly string[];
}

export const thesisConfluence: ConfluenceFields = {
  token: ['tokenAddress', 'tokenSymbol', 'tokenNetwork'],
  author: ['authorId', 'authorHandle'],
  handle: ['authorHandle', 'authorId'],
};
export const calloutConfluence: ConfluenceFields = {
  token: ['coinMint', 'coinSymbol', 'chain'],
  author: ['wallet'],
  handle: ['userName', 'xUsername', 'wallet'],
};

interface Post {
  readonly id: string;
  readonly at: number;
  readonly author: string;
  /** The record as JSON, which needs less memory. */
  readonly text: string;
}

interface Group {
  readonly id: string;
  version: number;
  readonly posts: Post[];
}

/** The posts about a token that are in no group, oldest first, and its groups. */
interface Token {
  posts: Post[];
  groups: Group[];
}

/** A group with so many authors is complete; the next post begins another one. */
const AUTHORS_MAX = 1_000;
/** If more posts of one token are in no group, one is forgotten. */
const PENDING_MAX = 200;
/** Posts may be this much older than the newest ones while no time is verified. */
const SLACK_MS = 600_000;
/** Forgetting looks at all tokens, so it waits until time has passed. */
const STEP_MS = 5_000;

/**
 * Finds tokens that several authors post about. Compares post times, so a post that is found late
 * still counts.
 */
export class Confluence {
  readonly #rule: ConfluenceRule;
  readonly #fields: ConfluenceFields;
  readonly #verified: () => number | null;
  readonly #tokens = new Map<string, Token>();
  #newest: readonly number[] = [];
  #forgotten = Number.NEGATIVE_INFINITY;

  /** `verified` returns up to which time no more posts are expected; null if that is not known. */
  constructor(
    rule: ConfluenceRule,
    fields: ConfluenceFields,
    state?: string,
    verified = (): number | null => null,
  ) {
    this.#rule = rule;
    this.#fields = fields;
    this.#verified = verified;
    for (const [key, token] of state === undefined ? [] : tokensIn(state)) {
      this.#tokens.set(key, token);
    }
  }

  add(row: TailRow): TailRow | undefined {
    const { id, at, record } = row;
    const key = textIn(record, [this.#fields.token[0]]);
    const author = textIn(record, this.#fields.author);
    if (at === null || key === undefined || author === undefined) return undefined;
    this.#forget(at);
    const token = this.#tokens.get(key) ?? { posts: [], groups: [] };
    this.#tokens.set(key, token);
    const post: Post = { id, at, author, text: stringifyJson(record) ?? '{}' };
    const group = token.groups.findLast((earlier) => this.#isNear(earlier, at));
    if (group) {
      if (group.posts.some((other) => other.author === author)) return undefined;
      insert(group.posts, post);
      group.version++;
      this.#gather(token, group);
      return this.#rowOf(group);
    }
    insert(token.posts, post);
    if (token.posts.length > PENDING_MAX) forgetOne(token.posts);
    const posts = this.#found(token.posts, at);
    const [first] = posts ?? [];
    if (!posts || !first) return undefined;
    const fresh: Group = { id: first.id, version: 1, posts };
    token.posts = token.posts.filter((pending) => !posts.includes(pending));
    this.#gather(token, fresh);
    token.groups.push(fresh);
    return this.#rowOf(fresh);
  }

  get state(): string {
    return JSON.stringify([...this.#tokens]);
  }

  /**
   * Adds the posts that are near the group now: one that was found late may have been missing
   * between them.
   */
  #gather(token: Token, group: Group): void {
    for (;;) {
      const near = token.posts.filter(({ at }) => this.#isNear(group, at));
      if (near.length === 0) return;
      token.posts = token.posts.filter((pending) => !near.includes(pending));
      for (const post of near)
        if (!group.posts.some(({ author }) => author === post.author)) insert(group.posts, post);
    }
  }

  #isNear({ posts }: Group, at: number): boolean {
    const { withinMs } = this.#rule;
    const [first, last] = [posts[0]?.at ?? 0, posts.at(-1)?.at ?? 0];
    return posts.length < AUTHORS_MAX && at >= first - withinMs && at <= last + withinMs;
  }

  /** The first posts of enough different authors within the time, around a post. */
  #found(posts: readonly Post[], at: number): Post[] | undefined {
    const { authors, withinMs } = this.#rule;
    for (const start of posts) {
      if (start.at < at - withinMs || start.at > at) continue;
      const firsts = new Map<string, Post>();
      for (const post of posts)
        if (post.at >= start.at && post.at <= start.at + withinMs && !firsts.has(post.author))
          firsts.set(post.author, post);
      if (firsts.size >= authors) return [...firsts.values()];
    }
    return undefined;
  }

  #forget(at: number): void {
    this.#newest = [...this.#newest, at].sort((one, other) => other - one).slice(0, 3);
    const clock = nthNewest(this.#newest, 2);
    if (clock === null || clock - this.#forgotten < STEP_MS) return;
    this.#forgotten = clock;
    const from = (this.#verified() ?? clock - SLACK_MS) - this.#rule.withinMs;
    for (const [key, token] of this.#tokens) {
      token.posts = token.posts.filter((post) => post.at >= from);
      token.groups = token.groups.filter(({ posts }) => (posts.at(-1)?.at ?? 0) >= from);
      if (token.posts.length === 0 && token.groups.length === 0) this.#tokens.delete(key);
    }
  }

  #rowOf({ id, version, posts }: Group): TailRow {
    const records = posts.map(({ text }) => parseJson(text)).filter(isRecord);
    const newest = records.at(-1) ?? {};
    const [address, symbol, network] = this.#fields.token;
    const holdings = records.flatMap(({ holdingsUsd }) =>
      typeof holdingsUsd === 'number' ? holdingsUsd : [],
    );
    const firstAt = posts[0]?.at ?? null;
    const lastAt = posts.at(-1)?.at ?? null;
    return {
      id,
      at: lastAt,
      raw: null,
      record: {
        id,
        version,
        tokenAddress: newest[address] ?? null,
        tokenSymbol: newest[symbol] ?? null,
        tokenNetwork: newest[network] ?? null,
        authors: records.map((record) => textIn(record, this.#fields.handle) ?? null),
        count: records.length,
        firstAt,
        lastAt,
        holdingsUsd: holdings.length === 0 ? null : sumOf(holdings),
        posts: records,
      },
    };
  }
}

/**
 * Forgets the oldest post of the author with most: one author must not push out the posts of the
 * others.
 */
function forgetOne(posts: Post[]): void {
  const counts = new Map<string, number>();
  for (const { author } of posts) counts.set(author, (counts.get(author) ?? 0) + 1);
  const highest = Math.max(...counts.values());
  const at = posts.findIndex(({ author }) => counts.get(author) === highest);
  posts.splice(at, 1);
}

/** Reads the state that a position has; a damaged one makes the position useless, and says so. */
function tokensIn(state: string): readonly (readonly [string, Token])[] {
  const saved = plainJson(state);
  if (Array.isArray(saved) && saved.every(isToken)) return saved;
  throw damagedCheckpoint('its state of confluences is damaged');
}

const isToken = (value: unknown): value is readonly [string, Token] => {
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !isRecord(value[1])) return false;
  const { posts, groups } = value[1];
  return isPosts(posts) && Array.isArray(groups) && groups.every(isGroup);
};

const isGroup = (value: unknown): value is Group =>
  isRecord(value) &&
  typeof value['id'] === 'string' &&
  typeof value['version'] === 'number' &&
  isPosts(value['posts']);

const isPosts = (value: unknown): value is readonly Post[] =>
  Array.isArray(value) &&
  value.every(
    (post) =>
      isRecord(post) &&
      typeof post['at'] === 'number' &&
      [post['id'], post['author'], post['text']].every((text) => typeof text === 'string'),
  );

function insert(posts: Post[], post: Post): void {
  const at = posts.findLastIndex((earlier) => earlier.at <= post.at);
  posts.splice(at + 1, 0, post);
}

function textIn(record: PostFields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = record[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}

/** The sum without the digits that doubles add, as in 0.1 + 0.2. */
const sumOf = (amounts: readonly number[]): number =>
  Number(amounts.reduce((sum, amount) => sum + amount, 0).toFixed(6));
