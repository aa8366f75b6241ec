import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { ensureFolder } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import { group } from '../../base/units.ts';

/**
 * Collects the paid records that a run cannot print, because the first record lacks a field of `--fields`.
 */
export interface Unprintable {
  /** Why the records cannot be printed. */
  readonly error: Failure;
  add(record: unknown): void;
  readonly count: number;
  /**
   * Saves the records in a folder, because they were paid for, and adds the name of the file to the error. If
   * the answers are cached, `folder` is undefined and nothing is saved.
   */
  save(folder: string | undefined, now: number): Promise<Failure>;
}

/**
 * Collects the records in memory, because they are few: a run that knows of a missing field sends no further
 * requests.
 */
export function createUnprintable(error: Failure): Unprintable {
  const records: unknown[] = [];
  const explained = (text: string) => new Failure(error.kind, `${error.message}; ${text}`, error);
  return {
    error,
    add(record) {
      records.push(record);
    },
    get count() {
      return records.length;
    },
    async save(folder, now) {
      if (folder === undefined)
        return explained('the answers are cached, so the corrected command does not pay for them again');
      const { jsonLine } = await import('../../output/format/ndjson.ts');
      const path = join(folder, `${new Date(now).toISOString().replace(/[:.]/g, '-')}-${process.pid}.ndjson`);
      try {
        ensureFolder(folder);
        writeAtomic(path, records.map((record) => `${jsonLine(record)}\n`).join(''));
      } catch {
        return explained('the records that were paid for could not be saved');
      }
      return explained(
        records.length === 1
          ? `the record that was paid for is in ${path}`
          : `the ${group(records.length)} records that were paid for are in ${path}`,
      );
    },
  };
}

/**
 * The folder for records that could not be printed; in the system's temporary folder if there is no state
 * folder.
 */
export const folderForUnprinted = (state: string | undefined): string =>
  join(state ?? tmpdir(), state === undefined ? 'trdr-unprinted' : 'unprinted');
