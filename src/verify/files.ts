import { basename, dirname, join } from 'node:path';
import { usageError } from '../base/failure.ts';
import { realPath, statsOf } from '../base/files.ts';
import { safeLine } from '../output/terminal/safe-text.ts';
import type { Certificate } from '../tail/certificate.ts';
import { finishedFiles } from '../tail/file/rotation.ts';
import { chainOf, filesBefore } from './join.ts';
import type { ScannedFile } from './scan.ts';

/**
 * The files that are meant: a certificate, which a pattern may match, stands for its file, the lock
 * of a running tail is passed over, and the files that --rotate has finished belong to the file
 * that continues them.
 */
export function filesToVerify(paths: readonly string[]): string[] {
  const meant = paths.filter((file) => !isLockName(file)).map(certifiedFile);
  if (meant.length === 0)
    throw usageError(`${paths[0]} is the lock of a file`, 'give the name of the file');
  const named = new Set(meant.map(realPath));
  const parts = meant.flatMap((file) => partsOf(file)).filter((part) => !named.has(part));
  const seen = new Set<string>();
  return [...parts, ...meant].filter((file) => {
    const path = realPath(file);
    return !seen.has(path) && seen.add(path);
  });
}

/** The files that --rotate has finished, oldest first. */
function partsOf(file: string): string[] {
  if (statsOf(file)?.isFile() !== true) return [];
  const paths = finishedFiles(file).map(({ path }) => {
    const asGiven = join(dirname(file), basename(path));
    return realPath(asGiven) === path ? asGiven : path;
  });
  return paths.reverse();
}

const choiceOf = ({ feed, filters }: Certificate) => `${feed} ${JSON.stringify(filters)}`;

/** The name of a lock, or of the lock that guards its removal. */
const isLockName = (file: string): boolean => /\.lock(\.[\w-]+)?$/.test(file);

const CERTIFICATE = '.trdr';

function certifiedFile(path: string): string {
  if (!path.endsWith(CERTIFICATE)) return path;
  const file = path.slice(0, -CERTIFICATE.length);
  return statsOf(file) === undefined && statsOf(`${file}.gz`) ? `${file}.gz` : file;
}

/**
 * Throws if the files are of different feeds: their certificates cannot be joined. Of one feed, a
 * file may continue those that were written with other filters. Returns how many choices there are.
 */
export function checkSameFeed(scanned: readonly ScannedFile[]): number {
  const named = scanned.flatMap(({ file, certificate }) =>
    certificate ? { file, certificate, feed: choiceOf(certificate) } : [],
  );
  const choices = new Set(named.map(({ feed }) => feed)).size;
  const chain = chainOf(named.map(({ certificate }) => certificate));
  const [first] = named;
  const other = named.find(({ feed }) => feed !== first?.feed);
  if (!first || !other) return choices;
  const isChain = named.some(({ certificate }) => {
    const choicesOf = filesBefore(certificate, chain).map(choiceOf);
    return new Set([choiceOf(certificate), ...choicesOf]).size === choices;
  });
  if (isChain) return choices;
  throw usageError(
    `${first.file} and ${other.file} are of different feeds or filters: ${safeLine(first.feed)}, and ${safeLine(other.feed)}`,
    'verify each feed by itself',
  );
}
