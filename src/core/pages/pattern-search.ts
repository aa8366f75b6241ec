import { createContext, Script } from 'node:vm';

/** Time limit for matching one text. */
const TIMEOUT_MS = 100;
/** The maximum number of attempts to match one text. */
const TRIES = 20;
/** Up to this text length, a simple pattern (see `isPlain`) needs no time limit. */
const SHORT = 2_000;

/**
 * Creates a function that tests whether a text matches. The function returns undefined if matching took too
 * long. A pattern can need exponential time, and anyone can post a text that causes this.
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
 * Returns the pattern if it is simple enough for highlighting matches in printed text, otherwise undefined.
 * Highlighting has no time limit, so a slow pattern could block the program.
 */
export const highlightOf = (pattern: RegExp | undefined): RegExp | undefined =>
  pattern && isPlain(pattern.source) ? pattern : undefined;

/**
 * Whether a pattern is simple: it has no backreference, no lookaround, no named group, no quantifier after a
 * group, and at most one of the quantifiers `*`, `+` and `{}`.
 */
function isPlain(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/\)[*+?{]|\(\?[=!<]/.test(bare) && (bare.match(/[*+{]/g) ?? []).length <= 1;
}

/**
 * Runs a pattern inside a `vm` script, because Node supports a time limit only for scripts. The script costs
 * 0.1 ms per text.
 */
function guard(pattern: RegExp): (text: string) => boolean | undefined {
  const scope: { readonly pattern: RegExp; text: string } = { pattern, text: '' };
  const context = createContext(scope);
  const script = new Script('pattern.test(text)');
  return (text) => {
    scope.text = text;
    for (let tries = 1; ; tries++) {
      const before = process.cpuUsage();
      try {
        return script.runInContext(context, { timeout: TIMEOUT_MS }) === true;
      } catch (error) {
        if (!isTimeout(error)) throw error;
        const { user, system } = process.cpuUsage(before);
        // On a busy machine, the time limit can pass while other programs use the CPU. This does not mean
        // that the pattern is slow, so try again.
        if (tries >= TRIES || user + system > (TIMEOUT_MS * 1_000) / 2) return undefined;
      }
    }
  };
}

/**
 * Whether an error means that the script timed out. The error comes from another realm, so `instanceof Error`
 * is false.
 */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
