import { numberSource, stringifyJson } from '../../base/json.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';

/**
 * The id of a post as text, which is also the cursor for older posts; undefined if it has none. For
 * a number, this is its original text, because a double may not represent all digits.
 */
export function postIdOf(post: Sent): string | undefined {
  const { id } = post;
  if (typeof id === 'number' && Number.isFinite(id)) return numberSource(post, 'id') ?? String(id);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

const DIGITS = /^\d{10,15}$/;
const DATE = /^\d{4}-\d\d-\d\d/;

/**
 * A lower number is not a time in milliseconds, but for example one in seconds: no post is from
 * before 2001.
 */
const EARLIEST_MS = 1e12;
/** A time further ahead is not the time of a post. */
const AHEAD_MS = 86_400_000;

/** A post time, given as a number or as text, in epoch ms; null if it cannot be read. */
export function postTimeOf(value: unknown): number | null {
  const at = typeof value === 'string' ? textTime(value) : value;
  return typeof at === 'number' && Number.isFinite(at) && at >= EARLIEST_MS ? at : null;
}

const textTime = (text: string): number | undefined => {
  if (DIGITS.test(text)) return Number(text);
  return DATE.test(text) ? Date.parse(text) : undefined;
};

/** When this version of a thesis was written. */
export const writtenAt = (post: Sent): number =>
  numberOf(post['updatedAt']) ?? postTimeOf(post['platformCreatedAt']) ?? 0;

/** Whether one version of a thesis was written after another. */
export function isLaterVersion(one: Sent, other: Sent): boolean {
  const byTime = writtenAt(one) - writtenAt(other);
  // Of versions with the same time, one is chosen that does not depend on their order.
  return byTime === 0 ? stringifyJson(one) > stringifyJson(other) : byTime > 0;
}

/** The time of a post; null if it is that of no post, because it is too far ahead. */
export const usableTime = (at: number | null, now: number): number | null =>
  at !== null && at > now + AHEAD_MS ? null : at;
