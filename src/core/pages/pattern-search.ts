import { createContext, Script } from 'node:vm';

const TIMEOUT_MS = 100;
const TRIES = 20;
/** A simple pattern needs no time limit up to this text length. */
const SHORT = 2_000;

/**
 * Undefined if it took too long: a pattern can need exponential time, and anyone can post such a
 * text.
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

/** Highlighting has no time limit, so only simple patterns are highlighted. */
export const highlightOf = (pattern: RegExp | undefined): RegExp | undefined =>
  pattern && isPlain(pattern.source) ? pattern : undefined;

/** The ways of one `*` with two optional characters. */
const MAX_WAYS = 4 * SHORT;

/** No backreference, lookaround or quantifier after a group, and few ways to match a short text. */
function isPlain(source: string): boolean {
  if (/\\[1-9k]/.test(source)) return false;
  const bare = source.replace(/\\./gs, 'x').replace(/\[[^\]]*\]/g, 'x');
  return !/\)[*+?{]|\(\?[=!<]/.test(bare) && waysOf(bare) <= MAX_WAYS;
}

/**
 * The number of ways in which the engine may try to match one place of a short text. Those of a
 * sequence multiply, those of alternatives add up.
 */
function waysOf(bare: string): number {
  const groups: { alternatives: number; sequence: number }[] = [];
  let group = { alternatives: 0, sequence: 1 };
  // The mark of a group is not a quantifier, and a lazy quantifier has the ways of a greedy one.
  for (const character of bare.replace(/\(\?[^:]*:/g, '(').replace(/([*+?}])\?/g, '$1')) {
    if (character === '(') {
      groups.push(group);
      group = { alternatives: 0, sequence: 1 };
    } else if (character === ')') {
      const ways = group.alternatives + group.sequence;
      group = groups.pop() ?? group;
      group.sequence *= ways;
    } else if (character === '|') {
      group.alternatives += group.sequence;
      group.sequence = 1;
    } else if (character === '?') group.sequence *= 2;
    else if ('*+{'.includes(character)) group.sequence *= SHORT;
  }
  return group.alternatives + group.sequence;
}

/** Node supports a time limit only for scripts. This costs 0.1 ms per text. */
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
        // On a busy machine, other programs may have used the time, so try again.
        if (tries >= TRIES || user + system > (TIMEOUT_MS * 1_000) / 2) return undefined;
      }
    }
  };
}

/** The error comes from another realm, so `instanceof Error` is false. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
