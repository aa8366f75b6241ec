import { stringifyJson } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { LaunchpadUserRecord, ResolveRecord, WhoisRecord } from '../../contract/records/subject.ts';
import type { View } from '../view.ts';

type AnyRecord = WhoisRecord | ResolveRecord | LaunchpadUserRecord;

/** The result of a lookup in words, so that it is visible without color. */
function outcome(row: AnyRecord): string {
  if (row.found === true) return 'found';
  if (row.found === null) return `failed: ${row.error.code}`;
  if (row.code !== 'PENDING') return 'not found';
  const reason = 'reason' in row ? String(row.reason) : 'pending';
  return 'position' in row && row.position !== undefined ? `${reason}, position ${row.position}` : reason;
}

/** A field of the record; undefined if the subject was not found. */
const of =
  (key: string) =>
  (row: AnyRecord): unknown =>
    row.found === true ? row[key] : undefined;

const at = (handle: unknown) => (typeof handle === 'string' ? `@${handle}` : undefined);

const atOr = (handle: unknown) => at(handle) ?? handle;

/** Any value as text; undefined for null and undefined. */
const otherText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : (textOf(value) ?? stringifyJson(value));

const identity = [
  { title: 'subject', kind: 'text', value: (row: AnyRecord) => row.subject, min: 10 },
  { title: 'status', kind: 'status', value: outcome, min: 11 },
  { title: 'handle', kind: 'handle', value: (row: AnyRecord) => atOr(of('handle')(row)), rank: 1, min: 8 },
  { title: 'name', kind: 'text', value: of('name'), rank: 4, min: 8 },
  { title: 'Solana', kind: 'address', value: of('solanaAddress'), rank: 2, min: 11 },
  { title: 'EVM', kind: 'address', value: of('evmAddress'), rank: 3, min: 11 },
  { title: 'user id', kind: 'address', value: of('id'), rank: 5, min: 11 },
] as const satisfies View<AnyRecord>['columns'];

const card = [
  { label: 'name', kind: 'text', value: of('name') },
  { label: 'Solana', kind: 'address', value: of('solanaAddress') },
  { label: 'EVM', kind: 'address', value: of('evmAddress') },
  { label: 'X', kind: 'link', value: of('twitter') },
  { label: 'bio', kind: 'text', value: of('bio') },
  { label: 'picture', kind: 'link', value: of('profilePicture') },
  { label: 'banner', kind: 'link', value: of('banner') },
  { label: 'socials', kind: 'text', value: (row: AnyRecord) => socials(of('socials')(row)) },
  { label: 'user id', kind: 'text', value: of('id') },
] as const;

function socials(value: unknown): string | undefined {
  if (!Array.isArray(value)) return otherText(value);
  const texts = value.map((item: unknown) => {
    if (!isRecord(item)) return otherText(item);
    const { provider, handle, subject } = item;
    const name = at(handle) ?? otherText(subject ?? handle);
    return [otherText(provider), name].filter((part) => part !== undefined).join(' ');
  });
  return texts.filter(Boolean).join(', ') || undefined;
}

const title = (row: AnyRecord) =>
  row.found === true
    ? (at(row['handle'] ?? row['username']) ?? row.subject)
    : `${row.subject}: ${outcome(row)}`;

export const whoisView: View<WhoisRecord> = {
  columns: identity,
  card: { title, lines: card },
  get fields() {
    return fieldPaths(WhoisRecord);
  },
  empty: 'no subjects',
};

export const resolveView: View<ResolveRecord> = {
  columns: [
    ...identity.slice(0, 2),
    { title: 'source', kind: 'text', value: of('source'), rank: 2 },
    ...identity.slice(2),
  ],
  card: { title, lines: [{ label: 'source', kind: 'text', value: of('source') }, ...card] },
  get fields() {
    return fieldPaths(ResolveRecord);
  },
  empty: 'no handles',
};

export const launchpadUserView: View<LaunchpadUserRecord> = {
  columns: [
    { title: 'subject', kind: 'address', value: (row) => row.subject, min: 11 },
    { title: 'status', kind: 'status', value: outcome, min: 11 },
    { title: 'user', kind: 'text', value: of('username'), rank: 1, min: 8 },
    { title: 'X', kind: 'handle', value: (row) => atOr(of('xUsername')(row)), rank: 2, min: 8 },
    { title: 'verified', kind: 'flag', value: of('isVerified'), rank: 3 },
    { title: 'followers', kind: 'integer', value: of('followers'), rank: 4 },
    { title: 'badges', kind: 'text', value: (row) => list(of('groupBadges')(row)), rank: 5, min: 8 },
  ],
  card: {
    title,
    lines: [
      { label: 'wallet', kind: 'address', value: of('wallet') },
      { label: 'X', kind: 'handle', value: (row) => atOr(of('xUsername')(row)) },
      { label: 'verified', kind: 'flag', value: of('isVerified') },
      { label: 'account', kind: 'flag', value: of('isLaunchpadUser') },
      { label: 'followers', kind: 'integer', value: of('followers') },
      { label: 'following', kind: 'integer', value: of('following') },
      { label: 'badges', kind: 'text', value: (row) => list(of('groupBadges')(row)) },
      { label: 'bio', kind: 'text', value: of('bio') },
      { label: 'picture', kind: 'link', value: of('profileImage') },
    ],
  },
  get fields() {
    return fieldPaths(LaunchpadUserRecord);
  },
  empty: 'no subjects',
};

function list(value: unknown): string | undefined {
  if (!Array.isArray(value)) return otherText(value);
  return value.map(otherText).filter(Boolean).join(', ') || undefined;
}
