import { createContext, Script } from 'node:vm';

/** Time limit of a pattern on one text. */
const TIMEOUT_MS = 100;
/** Up to this length, a pattern with at most one quantifier is always fast. */
const SHORT = 2_000;

/**
 * Tests whether a text matches; undefined if the pattern did not finish in time. A pattern can backtrack
 * exponentially, and anybody can write a post that makes it do so.
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

/**
 * The pattern, if it may mark its matches in shown text. That has no time limit, so only plain patterns
 * may.
 */
export const highlightOf = (pattern: RegExp | undefined): RegExp | undefined =>
  pattern && isPlain(pattern.source) ? pattern : undefined;

/**
 * Whether a pattern has at most one quantifier, not on a group, and no backreference: its time grows
 * linearly with the text.
 */
function isPlain(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/\)[*+?{]|\(\?[=!<]/.test(bare) && (bare.match(/[*+{]/g) ?? []).length <= 1;
}

/** Runs a pattern in a script, whose time limit is the only way to stop it. This costs 0.1 ms per text. */
function guard(pattern: RegExp): (text: string) => boolean | undefined {
  const scope: { readonly pattern: RegExp; text: string } = { pattern, text: '' };
  const context = createContext(scope);
  const script = new Script('pattern.test(text)');
  return (text) => {
    scope.text = text;
    try {
      return script.runInContext(context, { timeout: TIMEOUT_MS }) === true;
    } catch (error) {
      if (isTimeout(error)) return undefined;
      throw error;
    }
  };
}

/** The error belongs to another realm, so `instanceof Error` is false. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
