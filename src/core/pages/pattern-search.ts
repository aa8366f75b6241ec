import { createContext, Script } from 'node:vm';

/** How long a pattern may look at one text. */
const PATIENCE_MS = 100;
/** Up to this length, a pattern with at most one quantifier is always fast. */
const SHORT = 2_000;

/**
 * Whether a text matches; undefined where the pattern did not come to an end in time. A pattern can backtrack
 * through more ways than there is time for, and posts are written by anybody.
 */
export function createSearch(pattern: RegExp): (text: string) => boolean | undefined {
  let guarded: ((text: string) => boolean | undefined) | undefined;
  const plain = isPlain(pattern.source);
  return (text) => {
    if (plain && text.length <= SHORT) return pattern.test(text);
    guarded ??= guard(pattern);
    return guarded(text);
  };
}

/** The pattern where it may mark its matches in shown text: without a time limit, only a plain one may. */
export const highlightOf = (pattern: RegExp | undefined): RegExp | undefined =>
  pattern && isPlain(pattern.source) ? pattern : undefined;

/** No more than one quantifier, which is on no group, and nothing that looks back: time grows with the text alone. */
function isPlain(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/\)[*+?{]|\(\?[=!<]/.test(bare) && (bare.match(/[*+{]/g) ?? []).length <= 1;
}

/** The one way to stop a pattern is the time limit of a script; it costs a tenth of a millisecond a text. */
function guard(pattern: RegExp): (text: string) => boolean | undefined {
  const scope: { readonly pattern: RegExp; text: string } = { pattern, text: '' };
  const context = createContext(scope);
  const script = new Script('pattern.test(text)');
  return (text) => {
    scope.text = text;
    try {
      return script.runInContext(context, { timeout: PATIENCE_MS }) === true;
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  };
}

/** The error belongs to the script's realm, so `instanceof Error` is false. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
