import type { Option } from 'commander';
import { Failure, hintOf, usageError } from '../../base/failure.ts';

/** What has two names, such as `--top, --limit`. Messages are written with the second one. */
type Named = Pick<Option, 'short' | 'long'>;

/** Runs `act`, and names each flag in a usage error as the user has typed it. */
export function inTypedNames<T>(
  words: readonly string[],
  flags: readonly Named[],
  act: () => T,
): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
    const renamed = flags.filter((flag) => isTypedByOtherName(flag, words));
    if (renamed.length === 0) throw error;
    const inWords = (text: string) => renamed.reduce(withOtherName, text);
    throw usageError(inWords(error.message), inWords(hintOf(error) ?? ''));
  }
}

function isTypedByOtherName({ short, long }: Named, words: readonly string[]): boolean {
  const isTyped = (name: string | null | undefined) =>
    words.some((word) => word === name || word.startsWith(`${name}=`));
  return short?.startsWith('--') === true && isTyped(short) && !isTyped(long);
}

/** Only whole names: `--limit`, but not that in `--limits`, nor that in `'--top, --limit <n>'`. */
const withOtherName = (text: string, { short, long }: Named): string =>
  text.replace(new RegExp(`(?<!, )${long}(?![\\w-])`, 'g'), String(short));
