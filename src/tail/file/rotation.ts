import { closeSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { duration } from '../../base/durations.ts';
import { openRegular, readAt, realPath } from '../../base/files.ts';
import { isRecord } from '../../base/json-object.ts';
import type { Kind } from '../../base/values.ts';
import { postTimeOf } from '../../contract/read-record.ts';

/** A file is finished at a size, or at each multiple of a duration since 1970 (UTC). */
export type RotateRule = { readonly bytes: number } | { readonly everyMs: number };

const unitBytes: Readonly<Record<string, number>> = {
  k: 1e3,
  kb: 1e3,
  m: 1e6,
  mb: 1e6,
  g: 1e9,
  gb: 1e9,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
};
const LEAST_BYTES = 1_000;
const LEAST_MS = 1_000;

/** The unit `m` means minutes; megabytes are `M` or `MB`. */
export const rotateRule: Kind<RotateRule> = {
  name: 'size|duration',
  noun: 'size or duration',
  hint: 'write it as 100MB, 1GB, 1h or 1d',
  read(text) {
    const [, count, unit = ''] =
      /^(\d+(?:\.\d+)?)(k|kB|K|KB|M|MB|G|GB|KiB|MiB|GiB)$/.exec(text) ?? [];
    if (count !== undefined) {
      const bytes = Math.round(Number(count) * (unitBytes[unit.toLowerCase()] ?? 0));
      return bytes >= LEAST_BYTES && Number.isSafeInteger(bytes) ? { bytes } : undefined;
    }
    const everyMs = /^\d+(\.\d+)?$/.test(text) ? undefined : duration.read(text);
    return everyMs !== undefined && everyMs >= LEAST_MS ? { everyMs } : undefined;
  },
};

/** Whether a file must be finished before `more` bytes are written at `now`. */
export const isFull = (
  rule: RotateRule,
  file: { readonly size: number; readonly lastWriteAt: number },
  more: number,
  now: number,
): boolean => {
  if (file.size === 0) return false;
  if ('bytes' in rule) return more > 0 ? file.size + more > rule.bytes : file.size >= rule.bytes;
  // Test for inequality, not for a later period: a file that is dated in the future must not grow
  // forever.
  return Math.floor(file.lastWriteAt / rule.everyMs) !== Math.floor(now / rule.everyMs);
};

/**
 * The name of a finished file has the time of its first post, or `now`:
 * `theses.20261122T010203Z.ndjson`, or `...Z-2.ndjson` if that name exists.
 */
export function finishedName(path: string, timeField: string, now: number): string {
  const { folder, stem, extension } = partsOf(path);
  const stamp = new Date(firstPostTime(path, timeField) ?? now)
    .toISOString()
    .replace(/\.\d+|[-:]/g, '');
  for (let many = 1; ; many++) {
    const name = join(folder, `${stem}.${stamp}${many === 1 ? '' : `-${many}`}${extension}`);
    const taken = [name, `${name}.gz`].some((candidate) =>
      statSync(candidate, { throwIfNoEntry: false }),
    );
    if (!taken) return name;
  }
}

const partsOf = (path: string) => {
  const extension = extname(path);
  return { folder: dirname(path), stem: basename(path, extension), extension };
};

/** The name of a file before another program compressed it. */
export const unpackedName = (path: string): string => path.replace(/\.gz$/, '');

/**
 * Newest first. Of a file that exists both compressed and uncompressed, only the uncompressed one.
 */
export function finishedFiles(out: string) {
  const { folder, stem, extension } = partsOf(realPath(out));
  const isStamp = /^\d{8}T\d{6}Z(?:-\d+)?$/;
  const files = readdirSync(folder).flatMap((name) => {
    const isCompressed = name.endsWith(`${extension}.gz`);
    const plain = isCompressed ? name.slice(0, -'.gz'.length) : name;
    if (!plain.startsWith(`${stem}.`) || !plain.endsWith(extension)) return [];
    if (!isStamp.test(plain.slice(stem.length + 1, plain.length - extension.length))) return [];
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? [{ path, plain, isCompressed, mtimeMs: stats.mtimeMs }] : [];
  });
  const plain = new Set(
    files.filter(({ isCompressed }) => !isCompressed).map((file) => file.plain),
  );
  return files
    .filter((file) => !file.isCompressed || !plain.has(file.plain))
    .sort((a, b) => b.mtimeMs - a.mtimeMs || (a.plain < b.plain ? 1 : -1))
    .map(({ path, isCompressed }) => ({ path, isCompressed }));
}

const FIRST_LINE = 1024 * 1024;
/** The range of times that can be part of a file name, in which years have four digits. */
const [FIRST_TIME, LAST_TIME] = [Date.UTC(1970, 0, 1), Date.UTC(9999, 11, 31)];

/** The post time of the first line of a file; undefined if it cannot be read. */
function firstPostTime(path: string, timeField: string): number | undefined {
  const fd = openRegular(path);
  try {
    const [line = ''] = readAt(fd, 0, FIRST_LINE).toString('utf8').trimStart().split('\n', 1);
    const record: unknown = JSON.parse(line);
    const value = isRecord(record) ? record[timeField] : undefined;
    const at = postTimeOf(value);
    return at !== null && at >= FIRST_TIME && at <= LAST_TIME ? at : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
