import { isRecord, textOf } from '../../base/json-object.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { ComparedUserRecord, type SubjectRecord } from '../../contract/records/subject.ts';
import { shortAddress } from '../format/short-address.ts';
import type { Column, View } from '../view.ts';
import { handleColumn, subjectColumn, walletColumns, whoisCard } from './subject.ts';

/** The fields of a trader that --compare compares. */
export const comparedUserFields = ['handle', 'solanaAddress', 'evmAddress', 'twitter'] as const;

export type ComparedUserField = (typeof comparedUserFields)[number];

/** How the earlier value of a field is shown. */
const earlierTexts: Readonly<Record<ComparedUserField, (value: string | undefined) => string>> = {
  handle: (value) => `@${value}`,
  solanaAddress: (value) => walletText('Solana', value),
  evmAddress: (value) => walletText('EVM', value),
  twitter: (value) => (value === undefined ? 'no X' : `X @${value.split('/').at(-1)}`),
};

const walletText = (chain: string, value: string | undefined): string =>
  value === undefined ? `no ${chain}` : `${chain} ${shortAddress(value, '…')}`;

/** `@old_name, no Solana`: what was different before. */
function earlierText(row: SubjectRecord): string | undefined {
  const changes = 'changes' in row ? row['changes'] : undefined;
  if (!isRecord(changes)) return undefined;
  const texts = comparedUserFields.flatMap((field) => {
    const change = changes[field];
    return isRecord(change) ? [earlierTexts[field](textOf(change['was']))] : [];
  });
  return texts.join(', ') || undefined;
}

const change: Column<SubjectRecord> = { title: 'change', kind: 'text', field: 'change', min: 7 };
const before: Column<SubjectRecord> = {
  title: 'before',
  kind: 'text',
  value: earlierText,
  min: 16,
  wrap: true,
  lines: 4,
};

/** What changed of traders since an earlier output. */
export const comparedUsersView: View<SubjectRecord> = {
  columns: [subjectColumn, change, handleColumn, ...walletColumns, before],
  card: { ...whoisCard, lines: [change, before, ...whoisCard.lines] },
  fields: () => fieldPaths(ComparedUserRecord),
  empty: 'nothing changed',
};
