import type { Sent } from '../../contract/read-record.ts';

/**
 * What changed of a subject since an earlier output; null if one of the two lookups failed, so that
 * this is not known.
 */
export function changeOf(
  now: boolean | null,
  was: boolean | null,
  isOther: () => boolean,
): string | null {
  if (now === null || was === null) return null;
  if (now !== was) return now ? 'new' : 'left';
  return isOther() ? 'changed' : 'same';
}

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
