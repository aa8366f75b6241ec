import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { quietly } from '../base/calls.ts';
import { discard, readBounded } from '../base/files.ts';
import { parseJson } from '../base/json.ts';
import { holdLock, isLocked, type LockHandle } from '../base/lock.ts';
import { writeAtomic } from '../base/replace-file.ts';
import { TailRunRecord } from '../contract/records/tail-run.ts';

const DAY_MS = 86_400_000;
const LARGEST = 64 * 1024;
const NAME = /^run-\d+-\d+\.json$/;

const RunText = z.object({ identity: z.string(), record: TailRunRecord });

/** A run file: the record of a run, and what its next run is recognized by. */
interface RunFile {
  readonly path: string;
  readonly identity: string;
  readonly record: TailRunRecord;
}

const lockOf = (path: string): string => `${path}.lock`;
const folderIn = (state: string): string => join(state, 'tails');

/**
 * The tails and relays of this machine that run, or that ended within a day. Those without a living
 * process were killed.
 */
export function readTailRuns(state: string | undefined, now: number): TailRunRecord[] {
  return runFiles(state)
    .map(({ path, record }) => endedIfGone(record, path))
    .filter((run) => !isOld(run, now))
    .map((run) => (isOfDay(run, now) ? run : { ...run, cuToday: 0 }));
}

/**
 * The file in which a run notes its state. Its lock is held by the process of the run, so that
 * others see whether it lives. Nothing here fails: a tail does not end because its state cannot be
 * noted.
 */
export class TailRunFile {
  /** What earlier runs of the same command line have cost today. */
  readonly cuBefore: number;
  readonly #path: string;
  readonly #identity: string;
  readonly #lock: LockHandle | undefined;

  constructor(state: string, identity: string, now: number) {
    this.#path = join(folderIn(state), `run-${now}-${process.pid}.json`);
    this.#identity = identity;
    this.#lock = quietly(() => holdLock(lockOf(this.#path), this.#path));
    this.cuBefore = this.#removeEarlier(state, now);
  }

  save(record: TailRunRecord): void {
    if (!this.#lock) return;
    const text = JSON.stringify({ identity: this.#identity, record });
    quietly(() => writeAtomic(this.#path, text, { sync: false, temporary: `${this.#path}.tmp` }));
  }

  release(): void {
    this.#lock?.release();
  }

  /**
   * Removes the files of runs that this one replaces, and old ones. Returns what the replaced ones
   * have cost today.
   */
  #removeEarlier(state: string, now: number): number {
    let cu = 0;
    for (const { path, identity, record } of runFiles(state)) {
      const isReplaced = identity === this.#identity;
      if (isLocked(lockOf(path)) || (!isReplaced && !isOld(record, now))) continue;
      if (isReplaced && isOfDay(record, now)) cu += record.cuToday;
      for (const file of [path, lockOf(path), `${path}.tmp`]) discard(file);
    }
    return cu;
  }
}

function runFiles(state: string | undefined): RunFile[] {
  if (state === undefined) return [];
  const folder = folderIn(state);
  const names = quietly(() => readdirSync(folder)) ?? [];
  return names.filter((name) => NAME.test(name)).flatMap((name) => readRun(join(folder, name)));
}

/** Empty for a file that is gone or damaged: another run may have just removed it. */
function readRun(path: string): RunFile[] {
  const text = quietly(() => readBounded(path, LARGEST)) ?? '';
  const file = z.safeParse(RunText, parseJson(text));
  return file.success ? [{ path, ...file.data }] : [];
}

/** A run that has noted no end, and whose process does not live, could say nothing more. */
const endedIfGone = (run: TailRunRecord, path: string): TailRunRecord =>
  run.state === 'ended' || quietly(() => isLocked(lockOf(path))) !== false
    ? run
    : { ...run, state: 'killed', words: 'killed', endedAt: run.updatedAt };

const isOld = ({ endedAt, updatedAt }: TailRunRecord, now: number): boolean =>
  (endedAt ?? updatedAt) < now - DAY_MS;

/** Whether the costs of a run are of this UTC day. */
const isOfDay = ({ updatedAt }: TailRunRecord, now: number): boolean =>
  Math.floor(updatedAt / DAY_MS) === Math.floor(now / DAY_MS);
