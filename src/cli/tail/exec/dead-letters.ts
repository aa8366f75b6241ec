import { closeSync, constants, fsyncSync, openSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../../../base/failure.ts';
import { appendLines, ensureFolder, fileFailure, statsOf } from '../../../base/files.ts';
import { sha256 } from '../../../base/sha256.ts';
import type { DiskWait } from '../../../output/disk-wait.ts';
import type { Batch } from '../../../tail/exec/delivery.ts';

/** The file of batches that the command did not accept. The file contains the lines that the command received. */
interface DeadLetters {
  /** The path of the file; undefined if there is neither a checkpoint nor a state folder. */
  readonly path: string | undefined;
  save(batch: Batch): Promise<void>;
}

interface DeadLettersOptions {
  readonly checkpoint: string | undefined;
  readonly state: string | undefined;
  /** Identifies the feed and the command, for runs without a checkpoint. */
  readonly name: string;
  /** Where the batch waits while the disk is full. */
  readonly diskWait: Pick<DiskWait, 'retry'>;
}

/** Opens the dead-letter file next to the checkpoint; without a checkpoint, in the state folder. */
export function openDeadLetters({ checkpoint, state, name, diskWait }: DeadLettersOptions): DeadLetters {
  const own = state && join(state, 'tails', `${sha256(name).slice(0, 32)}.dead.ndjson`);
  const path = checkpoint === undefined ? own : `${checkpoint}.dead.ndjson`;
  return {
    path,
    async save({ rows }) {
      if (path === undefined) {
        throw new Failure(
          'local',
          'the command did not accept a batch, and there is no folder in which to save the batch',
          {
            code: 'DEAD_LETTER',
            hint: 'set TRDR_STATE_DIR to a folder, or retry forever with --tries 0',
          },
        );
      }
      const text = Buffer.concat(rows.map(({ line }) => line)).toString('utf8');
      try {
        await diskWait.retry(path, () => {
          if (checkpoint === undefined) ensureFolder(dirname(path));
          append(path, text);
        });
      } catch (error) {
        throw fileFailure('write', path, error);
      }
    },
  };
}

/** Appends the lines of a batch. If not all of them fit on the disk, removes those that do. */
function append(path: string, text: string): void {
  const size = statsOf(path)?.size ?? 0;
  try {
    appendLines(path, text);
    sync(path);
  } catch (error) {
    if (statsOf(path)) truncateSync(path, size);
    throw error;
  }
}

/** Syncs the file to disk. The checkpoint records the batch as handed over only after that. */
function sync(path: string): void {
  const fd = openSync(path, constants.O_RDWR);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
