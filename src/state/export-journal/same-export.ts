import { Failure } from '../../base/failure.ts';

/** Identifies an export. Only the same export can resume a journal. */
export interface JournalIdentity {
  /** A digest of all handles, in order. */
  readonly inputs: string;
  readonly format: string;
  /** All other settings that affect the output or its price, by name. */
  readonly flags: Readonly<Record<string, string | number | boolean | null>>;
}

/** Names what differs between two exports; empty if they are the same. */
function differences(one: JournalIdentity, other: JournalIdentity): string[] {
  const names = new Set([...Object.keys(one.flags), ...Object.keys(other.flags)]);
  const flag = ({ flags }: JournalIdentity, name: string) =>
    Object.hasOwn(flags, name) ? flags[name] : undefined;
  return [
    ...(one.inputs === other.inputs ? [] : ['the handles']),
    ...(one.format === other.format ? [] : ['the format']),
    ...[...names].filter((name) => flag(one, name) !== flag(other, name)),
  ];
}

/** Throws if a journal belongs to another export than the wanted one, such as an export of other handles. */
export function checkSameExport(
  path: string,
  journal: JournalIdentity,
  wanted: JournalIdentity,
  hasSameSize: boolean,
): void {
  const differ = differences(journal, wanted);
  if (differ.length === 0 && !hasSameSize) differ.push('the number of handles');
  if (differ.length === 0) return;
  throw new Failure(
    'usage',
    `the journal ${path} belongs to a different export; what differs: ${differ.join(', ')}`,
    {
      code: 'JOURNAL_OTHER',
      hint: 'finish that export first, write to a different file, or add --fresh to start over and pay again',
    },
  );
}
