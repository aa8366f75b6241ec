import { existsSync, fstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from '../base/failure.ts';
import { fileError, realPath, statsOf } from '../base/files.ts';
import { type Replacement, replaceFile } from '../base/replace-file.ts';
import { descriptorIn, type OpenFile, openPipe, openToAppend } from './open-file.ts';
import { createSink, failureOf, type Sink, type SinkOptions, syncTo, tryOnce, writeToFile } from './sink.ts';

/** A wrong path is a usage error. */
function openFailure(path: string, error: unknown): Failure {
  const failure = failureOf(path, error);
  const hint = {
    EISDIR: 'give the name of a file in that folder',
    ENOENT: missingFolder(path),
    ENOTDIR: 'use a different path',
  }[failure.code];
  return hint === undefined
    ? failure
    : new Failure('usage', failure.message, { code: failure.code, hint, cause: error });
}

/** If the path is a symbolic link, the folder of its target is missing. */
function missingFolder(path: string): string {
  let folder = dirname(path);
  try {
    if (existsSync(folder)) folder = dirname(realPath(path));
  } catch {
    // A relative path has no real path if the current folder was deleted.
  }
  return folder === '.'
    ? 'the current folder was deleted; change to an existing one'
    : `create it first: mkdir -p '${folder}'`;
}

function sinkOn(file: OpenFile, options: SinkOptions): Sink {
  const sink = createSink(file.target, { ...options, name: file.path });
  let isOpen = true;
  return {
    ...sink,
    async finish(as) {
      if (!isOpen) return undefined;
      isOpen = false;
      try {
        await sink.finish(as);
        if (as === 'complete') await syncTo(file.fd, file.path);
      } finally {
        file.close();
      }
      return undefined;
    },
  };
}

/** A regular file gets its name only when it is complete. Pipes and devices are written directly. */
export async function fileSink(path: string, { signal, ...options }: SinkOptions = {}): Promise<Sink> {
  try {
    const before = statsOf(path);
    if (before?.isDirectory() || /[\\/]$/.test(path)) throw fileError('EISDIR');
    if (before && (!before.isFile() || descriptorIn(path) !== undefined)) {
      return sinkOn(await openPipe(path, signal), options);
    }
    const file = replaceFile(path);
    const sink = createSink(writeToFile(file.fd), { ...options, name: path });
    // Also after a failed write, until the temporary file is kept or discarded.
    let isOpen = true;
    return {
      ...sink,
      async finish(as) {
        if (!isOpen) return undefined;
        await sink.finish(as);
        if (as === 'complete') {
          await syncTo(file.fd, path);
          isOpen = false;
          commitOrSaveBeside(file, path);
          return undefined;
        }
        isOpen = false;
        if (as === 'discarded' || fstatSync(file.fd).size === 0) {
          file.discard();
          if (as === 'kept' && sink.closed.reason instanceof Failure) throw sink.closed.reason;
          return undefined;
        }
        await syncTo(file.fd, path).catch(() => {});
        return saveBeside(file, path);
      },
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw openFailure(path, error);
  }
}

/** If the replacement fails, saves the file beside its target, because its rows may have been paid for. */
function commitOrSaveBeside(file: Replacement, path: string): void {
  try {
    file.commit({ keep: true });
  } catch (error) {
    const failure = failureOf(path, error);
    let saved: string;
    try {
      saved = saveBeside(file, path);
    } catch {
      throw new Failure(failure.kind, `${failure.message}; the result could not be saved`, failure);
    }
    throw new Failure(failure.kind, `${failure.message}; the complete result is in ${saved}`, failure);
  }
}

/** Returns the path, if possible with the path of the target as the user wrote it. */
function saveBeside(file: Replacement, path: string): string {
  const saved = file.saveBeside();
  const target = realPath(path);
  return saved.startsWith(`${target}.partial`) ? `${path}${saved.slice(target.length)}` : saved;
}

/** Each flush also syncs to disk. */
export async function appendSink(path: string, { signal, ...options }: SinkOptions = {}): Promise<Sink> {
  try {
    if (/[\\/]$/.test(path)) throw fileError('EISDIR');
    const before = statsOf(path);
    const file =
      before && !before.isFile() ? await openPipe(path, signal) : openToAppend(path, options.retry);
    const sink = sinkOn(file, options);
    return {
      ...sink,
      async flush() {
        await sink.flush();
        await (options.retry ?? tryOnce)(() => syncTo(file.fd, path));
      },
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw openFailure(path, error);
  }
}
