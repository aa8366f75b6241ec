import type { Command, Option } from 'commander';
import { usageError } from '../../base/failure.ts';
import { helpFlag } from '../args/common.ts';

/**
 * A word without what follows the equals sign, which may be a key, and without the letters after an
 * unknown short flag.
 */
export const withoutText = (word: string): string =>
  /^-[^-]/.test(word) ? word.slice(0, 2) : nameIn(word);

const nameIn = (word: string): string => word.split('=', 1)[0] ?? '';

/**
 * Rejects words that commander would read in another sense than the user meant, before it reads
 * any.
 */
export function checkWords(command: Command, words: readonly string[]): void {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return;
    const name = nameIn(word);
    if (name !== word && flagOf(command, name)?.required === false)
      throw usageError(`flag '${name}' takes no value`, `write ${name} without a value`);
    const open = openFlag(command, word);
    if (open === undefined) continue;
    at++;
    checkValue(command, open, words[at] ?? '');
  }
}

const flagOf = (command: Command, name: string): Option | undefined =>
  [...command.options, helpFlag].find(({ short, long }) => name === long || name === short);

/** The flag whose value is the next word: `--limit`, `-l`, or the last letter of `-ql`. */
function openFlag(command: Command, word: string): Option | undefined {
  if (!word.startsWith('-') || word.startsWith('--')) return needsValue(flagOf(command, word));
  const letters = [...word.slice(1)];
  const flags = letters.map((letter) => flagOf(command, `-${letter}`));
  const at = flags.findIndex((flag) => flag?.required !== false);
  return at === letters.length - 1 ? needsValue(flags[at]) : undefined;
}

const needsValue = (flag: Option | undefined) => (flag?.required ? flag : undefined);

/**
 * An empty variable would otherwise make --dry-run the symbol of `--symbol $UNSET --dry-run`, and
 * the run would pay.
 */
function checkValue(command: Command, { flags, long }: Option, value: string): void {
  const name = nameIn(value);
  if (!flagOf(command, name)) return;
  throw usageError(
    `flag '${flags}' argument missing`,
    `"${name}" is a flag; if it is meant as the value, write ${long}=${value}`,
  );
}
