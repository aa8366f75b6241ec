import { fileFailure, inWords } from '../../base/files.ts';
import { writeAtomic } from '../../base/replace-file.ts';
import type { FileIdentity } from './followed-file.ts';
import { type FilePosition, fileAt, isSameFile, readPosition, writePosition } from './position.ts';

/**
 * Saves the position of a tail: in the checkpoint given by the user, and in the state folder for its
 * output.
 */
export interface Saver {
  save(text: string): Promise<void>;
  /** The output continues in another file. */
  moved(): void;
  /** The run ended normally. */
  ended(): void;
}

interface SaverOptions {
  readonly checkpoint: string | undefined;
  readonly out: string | undefined;
  /** The file with the position; undefined without an output to resume from, or without a state folder. */
  readonly position: string | undefined;
  readonly identity: () => FileIdentity | undefined;
  readonly notice: (text: string) => void;
}

/** Files that are remembered when one replaces another in quick succession. */
const MOST_BEFORE = 8;

export function createSaver({ checkpoint, out, position, identity, notice }: SaverOptions): Saver {
  let last: string | undefined;
  let file = identity();
  let before = filesBefore(position, file);
  let warned = false;

  /** The output shows most of the position, so a failure to save it does not end the run. */
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
          writeAtomic(checkpoint, text, { private: false });
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

/** The files before the one that a run begins with: those of the run before it, unless that ended normally. */
function filesBefore(position: string | undefined, file: FileIdentity | undefined): readonly FileIdentity[] {
  const old = position === undefined ? undefined : readPosition(position);
  if (!old) return [];
  if (isSameFile(old, file)) return old.before;
  return old.ended ? [] : [{ dev: old.dev, ino: old.ino }, ...old.before].slice(0, MOST_BEFORE);
}
