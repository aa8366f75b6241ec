import type { Tone } from '../format/printing.ts';

export type Style = (tone: Tone, text: string) => string;

type ColorMode = 'auto' | 'always' | 'never';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * What decides, in this order: the flag, FORCE_COLOR, NO_COLOR, the setting, whether the output is
 * a terminal.
 */
export function wantsColor(
  flag: ColorMode | undefined,
  env: Env,
  isTerminal: boolean,
  setting: ColorMode = 'auto',
): boolean {
  if (flag === 'always' || flag === 'never') return flag === 'always';
  const force = env['FORCE_COLOR'];
  if (force !== undefined) return force !== '0' && force !== 'false';
  if (env['NO_COLOR']) return false;
  if (setting !== 'auto') return setting === 'always';
  return isTerminal && env['TERM'] !== 'dumb';
}

/** A dumb terminal cannot move its cursor back. */
export const canRedraw = (stream: { readonly isTTY?: boolean }, env: Env): boolean =>
  stream.isTTY === true && env['TERM'] !== 'dumb';

/** Screen readers and Emacs run programs on a dumb terminal. Drawings mean nothing there. */
export const wantsWords = (env: Env): boolean => env['TERM'] === 'dumb';

export function wantsUnicode(env: Env, platform: string = process.platform): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  if (locale === '') return platform === 'darwin' || platform === 'win32' || 'WT_SESSION' in env;
  return /utf-?8/i.test(locale);
}

const plainStyle: Style = (_tone, text) => text;

/** To start fast, chalk is loaded only if color is wanted. */
export async function loadStyle(color: boolean): Promise<Style> {
  if (!color) return plainStyle;
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  // Only these ANSI colors are readable on both light and dark backgrounds.
  const paint: Record<Tone, (text: string) => string> = {
    plain: (text) => text,
    strong: chalk.bold,
    dim: chalk.dim,
    accent: chalk.cyan,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.magenta,
    match: chalk.inverse,
  };
  return (tone, text) => (text === '' ? text : paint[tone](text));
}
