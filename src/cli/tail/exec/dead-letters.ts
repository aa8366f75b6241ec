import { closeSync, constants, fsyncSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../base/failure.ts';
import { appendLines, ensureFolder, fileFailure } from '../../../base/files.ts';
import { sha256 } from '../../../base/sha256.ts';
import type { Batch } from '../../../tail/exec/batch.ts';

/** Batches that the command did not accept, as the lines that it was given: `CMD < FILE` hands them over again. */
export interface DeadLetters {
  /** Undefined where there is no place for one. */
  readonly path: string | undefined;
  save(batch: Batch): void;
}

interface DeadLettersOptions {
  readonly checkpoint: string | undefined;
  readonly state: string | undefined;
  /** Names the feed and the command, for runs without a checkpoint. */
  readonly name: string;
}

/** Beside the checkpoint, or in the state folder where there is none. */
export function openDeadLetters({ checkpoint, state, name }: DeadLettersOptions): DeadLetters {
  const own = state && join(state, 'tails', `${sha256(name).slice(0, 32)}.dead.ndjson`);
  const path = checkpoint === undefined ? own : `${checkpoint}.dead.ndjson`;
  return {
    path,
    save({ rows }) {
      if (path === undefined) {
        throw new Failure('local', 'the command did not accept a batch, and there is no place to save it', {
          code: 'DEAD_LETTER',
          hint: 'add --checkpoint FILE, or retry forever with --tries 0',
        });
      }
      try {
        if (checkpoint === undefined) ensureFolder(dirname(path));
        appendLines(path, Buffer.concat(rows.map(({ line }) => line)).toString('utf8'));
        sync(path);
      } catch (error) {
        throw fileFailure('write', path, error);
      }
    },
  };
}

/** On disk before the checkpoint passes the batch. */
function sync(path: string): void {
  const fd = openSync(path, constants.O_RDWR);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
