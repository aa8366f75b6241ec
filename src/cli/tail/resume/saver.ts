import { fileFailure, inWords } from '../../../base/files.ts';
import { writeAtomic } from '../../../base/replace-file.ts';
import type { DiskWait } from '../../../output/disk-wait.ts';
import type { FileIdentity } from '../output/followed-file.ts';
import { type FilePosition, fileAt, isSameFile, readPosition, writePosition } from './position.ts';

/**
 * Saves the position of a tail: in the checkpoint file that the user named, and, if there is an output file, in
 * a file of the state folder.
 */
export interface Saver {
  save(text: string): Promise<void>;
  /** Called when the output continues in another file. */
  moved(): void;
  /** Called when the run has ended normally. */
  ended(): void;
}

interface SaverOptions {
  readonly checkpoint: string | undefined;
  readonly out: string | undefined;
  /** The path of the position file; undefined if the output cannot be resumed or there is no state folder. */
  readonly position: string | undefined;
  readonly identity: () => FileIdentity | undefined;
  readonly notice: (text: string) => void;
  /** Where the checkpoint waits while the disk is full. */
  readonly diskWait: Pick<DiskWait, 'retry'>;
}

/** The maximum number of previous output files that a saved position names. */
const MOST_BEFORE = 8;

export function createSaver({ checkpoint, out, position, identity, notice, diskWait }: SaverOptions): Saver {
  let last: string | undefined;
  let file = identity();
  let before = filesBefore(position, file);
  let warned = false;

  /**
   * Saves the position. A failure does not end the run, because the next run can derive most of the position
   * from the output file.
   */
  const savePosition = (ended: boolean) => {
    if (position === undefined || out === undefined || last === undefined || !file) return;
    const size = (ended ? fileAt(out)?.size : undefined) ?? 0;
    const saved: FilePosition = { ...file, ended, size, checkpoint: last, before };
    try {
      writePosition(position, saved);
    } catch (error) {
      if (!warned) notice(`warning: ${fileFailure('write', position, error).message}`);
      warned = true;
    }
  };

  return {
    async save(text) {
      last = text;
      if (checkpoint !== undefined) {
        try {
          await diskWait.retry(checkpoint, () => writeAtomic(checkpoint, text, { private: false }));
        } catch (error) {
          throw inWords('write', checkpoint, error);
        }
      }
      savePosition(false);
    },
    moved() {
      before = [...(file ? [file] : []), ...before].slice(0, MOST_BEFORE);
      file = identity();
      savePosition(false);
    },
    ended: () => savePosition(true),
  };
}

/**
 * The files to which earlier runs wrote before the file that is at the path now. The list is empty if the last
 * run ended normally and the file at the path is not the one that it wrote.
 */
function filesBefore(position: string | undefined, file: FileIdentity | undefined): readonly FileIdentity[] {
  const old = position === undefined ? undefined : readPosition(position);
  if (!old) return [];
  if (isSameFile(old, file)) return old.before;
  return old.ended ? [] : [{ dev: old.dev, ino: old.ino }, ...old.before].slice(0, MOST_BEFORE);
}
