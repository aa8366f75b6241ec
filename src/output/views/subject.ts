import { stringifyJson } from '../../base/json.ts';
import { isRecord, textOf } from '../../base/json-object.ts';
import { quoted } from '../../base/shell-word.ts';
import { unitsText } from '../../base/units.ts';
import { beginsLikeAddress, SHORTEST_ADDRESS } from '../../contract/handles.ts';
import { cu } from '../../contract/limits.ts';
import { fieldPaths } from '../../contract/paths.ts';
import {
  LaunchpadUserRecord,
  ResolveRecord,
  type SubjectRecord,
  type UnaskedSubject,
  WhoisRecord,
} from '../../contract/records/subject.ts';
import { pendingMeaning } from '../../contract/records/user.ts';
import type { CellKind, Column, Row, View } from '../view.ts';

/** Only the cheap ways of a wallet were tried, so there is no error. */
const isUnasked = (row: SubjectRecord | UnaskedSubject): row is UnaskedSubject =>
  row.found === null && 'code' in row;

const otherText = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : (textOf(value) ?? stringifyJson(value));

/** So that the result is visible without color. */
export function outcome(row: SubjectRecord | UnaskedSubject): string {
  if (row.found === true) return 'found';
  if (row.found === null) return isUnasked(row) ? 'not asked' : `failed: ${row.error.code}`;
  if (row.code === 'NO_WALLET') return 'no wallet';
  if (row.code !== 'PENDING') return 'not found';
  const reason = ('reason' in row ? otherText(row.reason) : undefined) ?? 'pending';
  const position = 'position' in row ? otherText(row.position) : undefined;
  return position === undefined ? reason : `${reason}, position ${position}`;
}

const at = (handle: unknown) => (typeof handle === 'string' ? `@${handle}` : undefined);

const status: Column<SubjectRecord> = {
  title: 'status',
  kind: 'status',
  value: outcome,
  min: 11,
};

export const subjectColumn: Column<SubjectRecord> = {
  title: 'subject',
  kind: 'text',
  field: 'subject',
  min: 10,
};

const name: Column<SubjectRecord> = { title: 'name', kind: 'text', field: 'name', rank: 4, min: 8 };

export const handleColumn: Column<SubjectRecord> = {
  title: 'handle',
  kind: 'handle',
  field: 'handle',
  rank: 1,
  min: 8,
};

export const walletColumns: readonly Column<SubjectRecord>[] = [
  { title: 'Solana', kind: 'address', field: 'solanaAddress', rank: 2, min: 11 },
  { title: 'EVM', kind: 'address', field: 'evmAddress', rank: 3, min: 11 },
];

const persons: readonly Column<SubjectRecord>[] = [
  handleColumn,
  name,
  ...walletColumns,
  { title: 'user id', kind: 'address', field: 'id', rank: 5, min: 11 },
];

/**
 * A handle without a wallet reads like an error; the sentence says what can be done, and for how
 * much.
 */
function withoutWallet(row: SubjectRecord): string | undefined {
  if (row.found !== true || !isNone(row['solanaAddress']) || !isNone(row['evmAddress']))
    return undefined;
  // Of trdr resolve, the record says how it was found, or that it was not.
  if (row['source'] !== undefined) return 'none found';
  const handle = quoted(textOf(row['handle']) ?? row.subject);
  return `none on record; "trdr resolve ${handle}" searches live: ${unitsText(cu.reveal)} if it finds one, else ${unitsText(cu.miss)} a try`;
}

/** What was not sent is not known. */
const isNone = (value: unknown): boolean => value === null || value === '';

/** Two dashes for the addresses would say less than the sentence. */
const address = (field: 'solanaAddress' | 'evmAddress') => (row: SubjectRecord) =>
  row.found !== true || withoutWallet(row) !== undefined ? undefined : row[field];

/** What an outcome means, and what can be done about it. */
function noteOf(row: SubjectRecord | UnaskedSubject): string | undefined {
  if (isUnasked(row))
    return `asking the service itself costs ${unitsText(cu.reveal)} if it knows somebody, else ${unitsText(cu.miss)}: "trdr whois ${row.subject}"`;
  if (row.found === false && row.code === 'PENDING') return pendingMeaning(row['reason']);
  const mayBePart = row.subject.length < SHORTEST_ADDRESS && beginsLikeAddress(row.subject);
  return row.found !== null && mayBePart
    ? 'this was taken for a handle, not for a part of an address'
    : undefined;
}

const lines: readonly Column<SubjectRecord>[] = [
  { title: 'note', kind: 'text', value: noteOf },
  name,
  { title: 'Solana', kind: 'address', value: address('solanaAddress') },
  { title: 'EVM', kind: 'address', value: address('evmAddress') },
  { title: 'wallet', kind: 'text', value: withoutWallet },
  { title: 'X', kind: 'link', field: 'twitter' },
  { title: 'bio', kind: 'text', field: 'bio' },
  { title: 'picture', kind: 'link', field: 'profilePicture' },
  { title: 'banner', kind: 'link', field: 'banner' },
  {
    title: 'socials',
    kind: 'text',
    value: (row) => socials('socials' in row ? row['socials'] : undefined),
  },
  { title: 'user id', kind: 'text', field: 'id' },
];

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

export const title = (row: SubjectRecord) =>
  row.found === true
    ? (at(row['handle'] ?? row['username']) ?? row.subject)
    : `${row.subject}: ${outcome(row)}`;

/** Those that --history adds; undefined without it. */
function formerOf(row: SubjectRecord): readonly Row[] | undefined {
  const was = row.found === true ? row['was'] : undefined;
  return Array.isArray(was) ? was.filter(isRecord) : undefined;
}

/** A table without rows would look as if the history had not been asked for. */
const noHistory: Column<SubjectRecord> = {
  title: 'history',
  kind: 'text',
  value: (row) => (formerOf(row)?.length === 0 ? 'nothing else was seen before' : undefined),
};

const formerFields = [
  { field: 'handle', label: 'handle', kind: 'handle' },
  { field: 'solanaAddress', label: 'Solana', kind: 'address' },
  { field: 'evmAddress', label: 'EVM', kind: 'address' },
  { field: 'twitter', label: 'X', kind: 'link' },
] as const;

const formerKinds = new Map<unknown, CellKind>(formerFields.map(({ kind }) => [kind, kind]));

/** What was different before, a row for each field, the newest first. */
const history = {
  columns: [
    { title: 'earlier', kind: 'text', field: 'label', min: 7 },
    {
      title: '',
      kind: 'address',
      kindOf: ({ kind }: Row) => formerKinds.get(kind) ?? 'text',
      field: 'value',
      min: 11,
    },
    { title: 'first seen', kind: 'time', field: 'from', rank: 1 },
    { title: 'last seen', kind: 'time', field: 'to' },
  ] satisfies readonly Column<Row>[],
  rows: (row: SubjectRecord): readonly Row[] =>
    [...(formerOf(row) ?? [])].reverse().flatMap((former) =>
      formerFields.flatMap(({ field, label, kind }) => {
        const { [field]: value, from, to, byHandle } = former;
        const shown = byHandle === true ? `${label} (by its handle)` : label;
        return textOf(value) === undefined ? [] : [{ label: shown, kind, value, from, to }];
      }),
    ),
};

export const whoisCard = { title, lines: [...lines, noHistory], table: history };

export const whoisView: View<SubjectRecord> = {
  columns: [subjectColumn, status, ...persons],
  card: whoisCard,
  fields: () => fieldPaths(WhoisRecord),
  empty: 'no subjects',
};

const source: Column<SubjectRecord> = { title: 'source', kind: 'text', field: 'source', rank: 2 };

export const resolveView: View<SubjectRecord> = {
  columns: [subjectColumn, status, source, ...persons],
  card: { title, lines: [source, ...lines] },
  fields: () => fieldPaths(ResolveRecord),
  empty: 'no handles',
};

export const launchpadUserView: View<SubjectRecord> = {
  columns: [
    { title: 'subject', kind: 'address', field: 'subject', min: 11 },
    status,
    { title: 'user', kind: 'text', field: 'username', rank: 1, min: 8 },
    { title: 'X', kind: 'handle', field: 'xUsername', rank: 2, min: 8 },
    { title: 'verified', kind: 'flag', field: 'isVerified', rank: 3 },
    { title: 'followers', kind: 'integer', field: 'followers', rank: 4 },
    { title: 'badges', kind: 'text', value: badgesOf, rank: 5, min: 8 },
  ],
  card: {
    title,
    lines: [
      { title: 'wallet', kind: 'address', field: 'wallet' },
      { title: 'X', kind: 'handle', field: 'xUsername' },
      { title: 'verified', kind: 'flag', field: 'isVerified' },
      { title: 'account', kind: 'flag', field: 'isLaunchpadUser' },
      { title: 'followers', kind: 'integer', field: 'followers' },
      { title: 'following', kind: 'integer', field: 'following' },
      { title: 'badges', kind: 'text', value: badgesOf },
      { title: 'bio', kind: 'text', field: 'bio' },
      { title: 'picture', kind: 'link', field: 'profileImage' },
    ],
  },
  fields: () => fieldPaths(LaunchpadUserRecord),
  empty: 'no subjects',
};

function badgesOf(row: SubjectRecord): string | undefined {
  const value = 'groupBadges' in row ? row['groupBadges'] : undefined;
  if (!Array.isArray(value)) return otherText(value);
  return value.map(otherText).filter(Boolean).join(', ') || undefined;
}
