import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, readlink, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Writable } from 'node:stream';
import { Failure } from '../base/failure.ts';
import { codeOf, createSink, type Sink, type SinkOptions, writeFailure } from './sink.ts';

/** Where writing to `path` ends up: symbolic links followed, even when what they name is not there yet. */
async function targetOf(path: string): Promise<string> {
  let target = resolve(path);
  for (let hops = 0; hops < 40; hops++) {
    const found = await lstat(target).catch(() => undefined);
    if (!found?.isSymbolicLink()) return target;
    target = resolve(dirname(target), await readlink(target));
  }
  throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
}

/** Makes a rename last through a power cut, where the system allows it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

const isFolder = () => Object.assign(new Error('a folder'), { code: 'EISDIR' });

const failureOf = (path: string, error: unknown): Failure =>
  error instanceof Failure ? error : writeFailure(path, error);

/** Why a file can't be opened: a path that leads nowhere was written wrong. */
function refusalOf(path: string, error: unknown): Failure {
  const failure = failureOf(path, error);
  const missing = dirname(path);
  const hint = {
    EISDIR: 'name a file in it',
    ENOENT: missing === '.' ? 'this folder is gone: go to another' : `make it first: mkdir -p '${missing}'`,
    ENOTDIR: 'name another file',
  }[failure.code];
  return hint === undefined
    ? failure
    : new Failure('usage', failure.message, { code: failure.code, hint, cause: error });
}

/** A stream onto an open file that leaves the closing to its owner. */
const streamOnto = (handle: FileHandle): Writable =>
  new Writable({
    highWaterMark: 262_144,
    async write(bytes: Buffer, _encoding, done) {
      try {
        for (let at = 0; at < bytes.length; ) at += (await handle.write(bytes, at)).bytesWritten;
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  });

/** Pipes and devices can't be synced, and need not be. */
const synced = (handle: FileHandle, path: string): Promise<void> =>
  handle.sync().catch((error: unknown) => {
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw failureOf(path, error);
  });

/** Closes the file whatever happens to the flush before. */
async function sinkOn(handle: FileHandle, path: string, options: SinkOptions): Promise<Sink> {
  const sink = createSink(streamOnto(handle), { ...options, name: path });
  const close = () => handle.close().catch(() => {});
  return {
    ...sink,
    async end() {
      try {
        await sink.end();
        await synced(handle, path);
      } finally {
        await close();
      }
    },
    async abandon() {
      await sink.abandon();
      await close();
    },
  };
}

/** A file that appears whole, under its name, at `end()`, or not at all. Devices and pipes are written to as they are. */
export async function fileSink(path: string, options: SinkOptions = {}): Promise<Sink> {
  try {
    const target = await targetOf(path);
    const before = await stat(target).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (before?.isDirectory() || /[\\/]$/.test(path)) throw isFolder();
    if (before && !before.isFile()) return await sinkOn(await open(target, 'w'), path, options);
    // A file that may not be written to must not be replaced either.
    if (before) await (await open(target, 'r+')).close();

    const folder = dirname(target);
    const temp = join(folder, `.${basename(target).slice(0, 200)}.${randomBytes(6).toString('hex')}.tmp`);
    const handle = await open(temp, 'wx', 0o666);
    const drop = () => unlink(temp).catch(() => {});
    try {
      if (before) {
        await handle.chown(before.uid, before.gid).catch(() => {});
        await handle.chmod(before.mode & 0o7777);
      }
    } catch (error) {
      await handle.close();
      await drop();
      throw error;
    }
    const sink = await sinkOn(handle, path, options);
    let settled: Promise<void> | undefined;
    return {
      ...sink,
      end() {
        settled ??= (async () => {
          try {
            await sink.end();
            await rename(temp, target);
          } catch (error) {
            await drop();
            throw failureOf(path, error);
          }
          await syncFolder(folder);
        })();
        return settled;
      },
      abandon() {
        settled ??= sink.abandon().then(drop);
        return settled.catch(() => {});
      },
      async setAside() {
        settled = (async () => {
          await sink.end();
          await rename(temp, `${target}.partial`);
        })();
        await settled;
        return `${path}.partial`;
      },
    };
  } catch (error) {
    throw refusalOf(path, error);
  }
}

/** Adds to the end of a file, for streams: what is there stays, what is flushed is on disk. */
export async function appendSink(path: string, options: SinkOptions = {}): Promise<Sink> {
  try {
    if (/[\\/]$/.test(path)) throw isFolder();
    const handle = await open(path, 'a', 0o666);
    const sink = await sinkOn(handle, path, options);
    return {
      ...sink,
      async flush() {
        await sink.flush();
        await synced(handle, path);
      },
    };
  } catch (error) {
    throw refusalOf(path, error);
  }
}
