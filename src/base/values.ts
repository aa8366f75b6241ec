/**
 * A kind of value that users write as text, with its parser. Flags, arguments, settings and
 * environment variables share the kinds, so that `1h30m` or `10k` means the same everywhere.
 */
export interface Kind<T> {
  /** The placeholder in help, which shows it in upper case: `duration` as `DURATION`. */
  readonly name: string;
  /** The name of the value in messages: `invalid duration "soon"`. */
  readonly noun: string;
  /** How to write such a value; an imperative. */
  readonly hint: string;
  readonly choices?: readonly string[];
  /** Parses a text; undefined if it is invalid. */
  readonly read: (text: string) => T | undefined;
  /** What is wrong with an invalid text, without repeating the text. */
  readonly problem?: (text: string) => string;
}

export function oneOf<const C extends readonly string[]>(...choices: C): Kind<C[number]> {
  const isChoice = (text: string): text is C[number] => choices.includes(text);
  return {
    name: choices.join('|'),
    noun: 'value',
    hint: `choose from ${choices.join(', ')}`,
    choices,
    read: (text) => (isChoice(text) ? text : undefined),
  };
}

/** The same kind, which also reads other words for some of its choices. */
export const orSynonym = <T>(
  kind: Kind<T>,
  synonyms: Readonly<Record<string, string>>,
): Kind<T> => ({
  ...kind,
  read: (text) => kind.read(Object.hasOwn(synonyms, text) ? (synonyms[text] ?? text) : text),
});

const isOnOff = (text: string): boolean => text === 'true' || text === 'false';

export const onOff: Kind<boolean> = {
  ...oneOf('true', 'false'),
  read: (text) => (isOnOff(text) ? text === 'true' : undefined),
};

/** The name becomes part of keys and labels in the shared store. */
export const plainName: Kind<string> = {
  name: 'name',
  noun: 'name',
  hint: 'use at most 64 letters, digits and . _ -, starting with a letter or digit',
  read: (text) => (/^[A-Za-z0-9][\w.-]{0,63}$/.test(text) ? text : undefined),
};

export const commandLine: Kind<string> = {
  name: 'cmd',
  noun: 'command',
  hint: 'write a command that prints the secret on one line',
  read: (text) => text.trim() || undefined,
};

export const filePath: Kind<string> = {
  name: 'file',
  noun: 'file',
  hint: 'write the path of a file',
  read: (text) => (text === '' ? undefined : text),
};
