import type { Sent } from '../../contract/read-record.ts';

/** Says it if an earlier output may be one of --changed or --only. */
export function noticeChangedOnly(
  name: string,
  records: readonly Sent[],
  notice: (text: string) => void,
): void {
  const changes = records.flatMap((record) => record['change'] || []);
  // Such an output lacks those that were the same: they look as if they were new, or had left.
  if (changes.length === 0 || changes.includes('same')) return;
  notice(
    `${name} has only what had changed, as --changed and --only print it: what they left out is not compared, or looks new or left`,
  );
}
