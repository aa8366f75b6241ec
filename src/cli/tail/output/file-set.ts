import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { openNamelessFile, readWhole, writeWhole } from '../../../base/nameless-file.ts';
import { type LineForm, readTailFile, type TailBytes, type TailEnd } from '../../../tail/output/out-file.ts';
import { timing } from '../../../tail/timing.ts';
import { type FinishedFile, finishedFiles } from './rotation.ts';

/**
 * The maximum number of finished files to read. A small number suffices, because files are usually large or cover
 * a long time.
 */
const MOST_FILES = 16;
const NEWLINE = 10;

/**
 * Reads the end of an output that consists of several files. If the present file does not reach back far
 * enough, the finished files are read as if they were the beginning of the present file. `alone` is
 * the end of the present file, read without the finished files; undefined if there is no present file.
 */
export async function readFileSet(
  out: string,
  alone: TailEnd | undefined,
  form: LineForm,
  /** The post time from which on ids are needed; undefined if no checkpoint determines it. */
  wanted: number | undefined,
): Promise<TailEnd | undefined> {
  const handles: FileHandle[] = [];
  const parts: TailBytes[] = [];
  let end = alone;
  try {
    if (alone) parts.push(await bytesOf(await opened(out, handles)));
    for (const file of finishedFiles(out).slice(0, MOST_FILES)) {
      if (end && reachesBack(end, wanted)) break;
      const bytes = await bytesOf(
        file.isCompressed ? await unpacked(file, handles) : await opened(file.path, handles),
      );
      const last = await bytes.read(Math.max(0, bytes.size - 1), bytes.size);
      if (bytes.size > 0 && last[0] !== NEWLINE) break;
      parts.unshift(bytes);
      const whole = await readTailFile(joined(parts), form, timing, wanted);
      end = { ...whole, keep: alone?.keep ?? 0 };
    }
  } catch (error) {
    // Treat a finished file that cannot be read like a file that was moved away.
    if (!(error instanceof Error)) throw error;
  } finally {
    for (const handle of handles) await handle.close();
  }
  return end;
}

/**
 * Whether the run can resume from these lines: the oldest of them must be more than `depth` older than the time
 * up to which the lines are complete, or than `wanted` if `wanted` is earlier.
 */
function reachesBack({ young, resume }: TailEnd, wanted = Number.POSITIVE_INFINITY): boolean {
  const base = resume?.watermark.base ?? null;
  const oldest = resume?.known.at(-1)?.[1] ?? null;
  if (young || base === null || oldest === null) return false;
  const depth = timing.marginMs + timing.holdMs;
  return oldest < Math.min(base + timing.holdMs - depth, wanted) - depth;
}

async function opened(path: string, handles: FileHandle[]): Promise<FileHandle> {
  const handle = await open(path, 'r');
  handles.push(handle);
  return handle;
}

/** Decompresses a file, so that it can be read from its end. */
async function unpacked({ path }: FinishedFile, handles: FileHandle[]): Promise<FileHandle> {
  const handle = await openNamelessFile();
  handles.push(handle);
  const source = createReadStream(path);
  const text = createGunzip();
  source.on('error', (error) => text.destroy(error));
  let at = 0;
  for await (const piece of source.pipe(text)) {
    const bytes: Buffer = piece;
    await writeWhole(handle, bytes, at);
    at += bytes.length;
  }
  return handle;
}

async function bytesOf(handle: FileHandle): Promise<TailBytes> {
  const { size }: Stats = await handle.stat();
  return { size, read: (from, to) => readWhole(handle, from, to - from) };
}

/** Concatenates several files. */
function joined(parts: readonly TailBytes[]): TailBytes {
  return {
    size: parts.reduce((sum, { size }) => sum + size, 0),
    async read(from, to) {
      const pieces: Uint8Array[] = [];
      let start = 0;
      for (const part of parts) {
        const [first, end] = [Math.max(from, start), Math.min(to, start + part.size)];
        if (first < end) pieces.push(await part.read(first - start, end - start));
        start += part.size;
      }
      return Buffer.concat(pieces);
    },
  };
}
