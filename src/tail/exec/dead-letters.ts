import { closeSync, openSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { appendLines, ensureFolder, fileFailure, statsOf } from '../../base/files.ts';
import { syncFile } from '../../base/replace-file.ts';
import { countText } from '../../base/units.ts';
import type { DiskWait } from '../../output/disk-wait.ts';
import type { Batch } from './delivery.ts';

/** The file of the batches that a command did not accept. */
export class DeadLetters {
  /** Undefined if there is no folder for it. */
  readonly path: string | undefined;
  /** Whether the folder of the file is that of trdr, which may have to be created. */
  readonly #isOwnFolder: boolean;
  readonly #diskWait: Pick<DiskWait, 'retry'>;

  constructor(path: string | undefined, isOwnFolder: boolean, diskWait: Pick<DiskWait, 'retry'>) {
    this.path = path;
    this.#isOwnFolder = isOwnFolder;
    this.#diskWait = diskWait;
  }

  /** Saves a batch, and waits while the disk is full. */
  async save({ rows }: Batch): Promise<void> {
    const { path } = this;
    if (path === undefined) throw noFolder();
    const text = Buffer.concat(rows.map(({ line }) => line)).toString('utf8');
    try {
      await this.#diskWait.retry(path, () => this.#append(path, text));
    } catch (error) {
      throw fileFailure('write', path, error);
    }
  }

  /**
   * Throws if this run has dead letters: a run that ends by itself with dead letters has failed.
   */
  check(rows: number): void {
    if (rows === 0) return;
    throw new Failure(
      'local',
      `the command did not accept ${countText(rows, 'post')}, which trdr saved to ${this.path}`,
      {
        code: 'DEAD_LETTER',
        hint: 'when the cause is fixed, move that file away and hand it over again with --replay FILE (see docs/exec.md)',
      },
    );
  }

  /**
   * Appends the lines of a batch, and syncs the file. If not all of them fit on the disk, removes
   * those that do.
   */
  #append(path: string, text: string): void {
    if (this.#isOwnFolder) ensureFolder(dirname(path));
    const size = statsOf(path)?.size ?? 0;
    let fd: number | undefined;
    try {
      appendLines(path, text);
      fd = openSync(path, 'r+');
      syncFile(fd);
    } catch (error) {
      if (statsOf(path)) truncateSync(path, size);
      throw error;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

const noFolder = () =>
  new Failure(
    'local',
    'the command did not accept a batch, and there is no folder in which to save the batch',
    {
      code: 'DEAD_LETTER',
      hint: 'set TRDR_STATE_DIR to a folder, or retry forever with --tries 0',
    },
  );
