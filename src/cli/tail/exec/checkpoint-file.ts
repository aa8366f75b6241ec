import { closeSync, constants, openSync } from 'node:fs';
import {
  fileFailure,
  inWords,
  isAbsent,
  LARGEST_CHECKPOINT,
  readBounded,
  writeAll,
} from '../../../base/files.ts';
import { writeAtomic } from '../../../base/replace-file.ts';
import type { CheckpointFile } from '../../../tail/exec/acknowledgements.ts';

/** Reads the text of the checkpoint file at `path`. `replace` writes the file atomically. */
export const openCheckpointFile = (path: string): CheckpointFile => ({
  text: readText(path),
  replace(text) {
    try {
      writeAtomic(path, text, { private: false });
    } catch (error) {
      throw inWords('write', path, error);
    }
  },
  append(line) {
    let fd: number;
    try {
      fd = openSync(path, constants.O_WRONLY | constants.O_APPEND);
    } catch (error) {
      if (isAbsent(error)) return false;
      throw fileFailure('write', path, error);
    }
    try {
      writeAll(fd, Buffer.from(line));
      return true;
    } catch (error) {
      throw fileFailure('write', path, error);
    } finally {
      closeSync(fd);
    }
  },
});

function readText(path: string): string | undefined {
  try {
    return readBounded(path, LARGEST_CHECKPOINT);
  } catch (error) {
    throw fileFailure('read', path, error);
  }
}
