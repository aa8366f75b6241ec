import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureFolder, isAbsent, readBounded, realPath } from '../../../base/files.ts';
import { isRecord, parseObject } from '../../../base/json-object.ts';
import { writeAtomic } from '../../../base/replace-file.ts';
import { sha256 } from '../../../base/sha256.ts';
import type { FileIdentity } from '../output/followed-file.ts';

/**
 * The position of a tail in its feed, saved in the state folder. Usually the end of the output file shows the
 * position. The saved position is needed if the output file was renamed or deleted and the new file is almost
 * empty.
 */
export interface FilePosition extends FileIdentity {
  /** Whether the run that saved the position ended normally. */
  readonly ended: boolean;
  /** The size of the file in bytes when the run ended normally; 0 if the run has not ended normally. */
  readonly size: number;
  /** The previous output files, newest first. Their last lines may be newer than the checkpoint. */
  readonly before: readonly FileIdentity[];
  /** The position, in the text form of a checkpoint file. */
  readonly checkpoint: string;
}

const LARGEST = 64 * 1024 * 1024;

/** The path of the position file of an output. */
export const positionPath = (stateFolder: string, out: string): string =>
  join(stateFolder, 'tails', `${sha256(realPath(out)).slice(0, 32)}.json`);

export function writePosition(path: string, position: FilePosition): void {
  ensureFolder(dirname(path));
  writeAtomic(path, `${JSON.stringify(position)}\n`, { sync: false });
}

/** Reads a position file; undefined if the file is missing or invalid. */
export function readPosition(path: string): FilePosition | undefined {
  let text: string | undefined;
  try {
    text = readBounded(path, LARGEST);
  } catch {
    return undefined;
  }
  const value = parseObject(text ?? '');
  const file = identityOf(value);
  if (!file || !value) return undefined;
  const { ended, size, checkpoint, before } = value;
  return typeof ended === 'boolean' && typeof size === 'number' && typeof checkpoint === 'string'
    ? { ...file, ended, size, checkpoint, before: identitiesOf(before) }
    : undefined;
}

/** Parses the list of previous files. An earlier version of trdr saved a single file instead of a list. */
const identitiesOf = (value: unknown): FileIdentity[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) => identityOf(each) ?? []);

function identityOf(value: unknown): FileIdentity | undefined {
  if (!isRecord(value)) return undefined;
  const { dev, ino } = value;
  return typeof dev === 'string' && typeof ino === 'string' ? { dev, ino } : undefined;
}

export const isSameFile = (a: FileIdentity | undefined, b: FileIdentity | undefined): boolean =>
  a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;

/** The identity and size of a file; undefined if the file does not exist. */
export function fileAt(path: string): (FileIdentity & { readonly size: number }) | undefined {
  try {
    const { dev, ino, size } = statSync(path, { bigint: true });
    return { dev: String(dev), ino: String(ino), size: Number(size) };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * The new path of a file that was renamed within its folder, for example by log rotation; undefined if the
 * file is not found.
 */
export function renamedFrom(out: string, { dev, ino }: FileIdentity): string | undefined {
  const folder = dirname(realPath(out));
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(folder, entry.name);
    const found = fileAt(path);
    if (found?.dev === dev && found.ino === ino) return path;
  }
  return undefined;
}
