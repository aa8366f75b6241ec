/** All inputs share these kinds, so that `10k` means the same everywhere. */
export interface Kind<T> {
  readonly name: string;
  /** As in `invalid duration "soon"`. */
  readonly noun: string;
  readonly hint: string;
  readonly choices?: readonly string[];
  readonly read: (text: string) => T | undefined;
  readonly problem?: (text: string) => string;
}

interface NumberBounds {
  readonly min?: number;
  readonly max?: number;
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

export const onOff: Kind<boolean> = {
  ...oneOf('true', 'false'),
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
};

/** Groups of three digits: if the comma of `1,5M` were ignored, a limit would be ten times too high. */
function readNumber(text: string): number | undefined {
  const match = /^([+-]?)(\d+|\d{1,3}(?:[_,]\d{3})+)?(\.\d*)?([kKmM]?)$/.exec(text);
  const [, sign = '', whole = '', fraction = '', suffix = ''] = match ?? [];
  if (!/\d/.test(whole + fraction)) return undefined;
  const factor = { k: 1e3, m: 1e6 }[suffix.toLowerCase()] ?? 1;
  const product = Number(`${whole.replace(/[_,]/g, '')}${fraction}`) * factor;
  // In floating point, 1.001 × 1000 is not exactly 1001.
  const isWhole = factor > 1 && fraction.length - 1 <= Math.log10(factor);
  const size = isWhole ? Math.round(product) : product;
  // A double cannot represent larger numbers exactly.
  if (!(size <= Number.MAX_SAFE_INTEGER)) return undefined;
  return sign === '-' && size !== 0 ? -size : size;
}

export const within = (number: number | undefined, { min, max }: NumberBounds): number | undefined =>
  number === undefined || number < (min ?? -Infinity) || number > (max ?? Infinity) ? undefined : number;

const rangeText = ({ min, max }: NumberBounds): string => {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? '' : ` of at most ${max}`;
};

export const integer = (bounds: NumberBounds = {}): Kind<number> => ({
  name: 'n',
  noun: 'number',
  hint: `use a whole number${rangeText(bounds)}`,
  read(text) {
    const number = readNumber(text);
    return Number.isSafeInteger(number) ? within(number, bounds) : undefined;
  },
});

export const decimal = (bounds: NumberBounds = {}): Kind<number> => ({
  name: 'n',
  noun: 'number',
  hint: `use a number${rangeText(bounds)}`,
  read: (text) => within(readNumber(text), bounds),
});

export const units: Kind<number> = {
  name: 'cu',
  noun: 'amount',
  hint: 'write it as 30000, 30k or 2.5M',
  read: (text) => integer({ min: 0 }).read(text),
};

export const share: Kind<number> = {
  name: 'share',
  noun: 'share',
  hint: 'write it as 10% or 0.1',
  read(text) {
    const [, number, percent] = /^(\d+(?:\.\d+)?)(%)?$/.exec(text) ?? [];
    const fraction = Number(number) / (percent ? 100 : 1);
    return fraction >= 0 && fraction <= 1 ? fraction : undefined;
  },
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

/** Texts copied from web pages, chats or spreadsheets often have invisible characters at their ends. */
export const trimText = (text: string): string =>
  isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(text.length - 1))
    ? text
    : text.replace(ENDS, '');

/** Most texts begin and end with visible ASCII, and need no search. */
const isPrintable = (code: number): boolean => code > 0x20 && code < 0x7f;

const EMPTY = '[\\s\\xad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]+';
const ENDS = new RegExp(`^${EMPTY}|${EMPTY}$`, 'g');
