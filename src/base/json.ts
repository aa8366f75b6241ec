// JSON.parse turns 1.10 into 1.1, 1e400 into Infinity, and rounds 12345678901234567890. Objects
// therefore keep the original texts of such numbers under a symbol, which `{...record}` copies and
// JSON.stringify ignores.

/** Where an object keeps the original texts of its numbers: a map from member names to texts. */
const SOURCES = Symbol('numbers as they were written');

type Sources = Map<string, string>;

/**
 * The deepest nesting that is accepted: recursive code that reads a deeper value could overflow the
 * stack.
 */
const MAX_DEPTH = 200;

/** Matches numbers, and strings too, so that numbers in them are skipped. */
const numbers = /"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d[\d.eE+-]*)/g;

/**
 * Matches in every text that has an inexact number, and in few others: minus zero, sixteen digits,
 * a very small number, decimals that end with zero, or an exponent where a number may begin. It is
 * much faster than a look at each token.
 */
const mayBeInexact =
  /(?:^|[\s:,[])(?:-0(?![.\d])|-?(?:\d{16}|[\d.]{17}|0\.0{6}|\d+(?:\.\d*0(?!\d)|(?:\.\d+)?[eE])))/;

const isExact = (token: string): boolean => String(Number(token)) === token;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const sourcesOf = (holder: object): Sources | undefined =>
  SOURCES in holder && holder[SOURCES] instanceof Map ? holder[SOURCES] : undefined;

/** Keeps the original text of the number at `key`. */
export function setNumberSource(holder: object, key: string, source: string): void {
  const sources = sourcesOf(holder) ?? new Map<string, string>();
  sources.set(key, source);
  Object.defineProperty(holder, SOURCES, { value: sources, enumerable: true, configurable: true });
}

/**
 * Parses JSON and keeps the digits of its numbers; undefined if the text is not valid or is nested
 * too deeply.
 */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (isTooDeep(text, value)) return undefined;
    if (hasInexactNumber(text)) value = withSources(text);
  } catch {
    // Not JSON; or a string with millions of escapes overflowed the stack of a scan, and the digits
    // are not kept.
  }
  return value;
}

/** Whether the value of a text is nested more deeply than recursive code can read. */
export const isTooDeep = (text: string, value: unknown): boolean =>
  mayBeDeep(text) && isDeeper(value, MAX_DEPTH);

/**
 * Whether a text has enough brackets to be nested too deeply, which takes less time to find out.
 */
function mayBeDeep(text: string): boolean {
  let brackets = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++brackets > MAX_DEPTH) return true;
    }
  }
  return false;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isObject(value)) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper(value[key], levels - 1)) return true;
  return false;
}

/**
 * Whether JavaScript would write a number differently. Most texts have no such number, and need not
 * be parsed again.
 */
function hasInexactNumber(text: string): boolean {
  if (!mayBeInexact.test(text)) return false;
  for (const [, number] of text.matchAll(numbers))
    if (number !== undefined && !isExact(number)) return true;
  return false;
}

/**
 * Parses the text again with its inexact numbers as strings, to find the objects to which they
 * belong.
 */
function withSources(text: string): unknown {
  const marked = text.replace(numbers, (token, number?: string) =>
    number === undefined || isExact(number) ? token : `"${MARK}${number}"`,
  );
  return JSON.parse(marked, function (this: object, key: string, member: unknown) {
    if (typeof member !== 'string' || !member.startsWith(MARK)) return member;
    const source = member.slice(MARK.length);
    setNumberSource(this, key, source);
    return Number(source);
  });
}

/**
 * Marks a number in the text. No service knows this mark, so no string begins with it by accident.
 */
const MARK = `number ${process.hrtime.bigint()} `;

/** The original text of the number at `key`, if JavaScript would write the number differently. */
export function numberSource(holder: object, key: string): string | undefined {
  const source = sourcesOf(holder)?.get(key);
  // Copies made with `{...record}` share the map, and the number of a copy may have changed since.
  return source !== undefined && Object.is(Number(source), Reflect.get(holder, key))
    ? source
    : undefined;
}

/** Copies the original texts of numbers to an object whose members were copied from `origins`. */
export function copySources<T extends object>(target: T, ...origins: readonly unknown[]): T {
  for (const origin of origins) {
    const sources = isObject(origin) ? sourcesOf(origin) : undefined;
    for (const [key, source] of sources ?? []) setNumberSource(target, key, source);
  }
  return target;
}

/** JSON on one line with the original numbers; `null` for a value that JSON cannot represent. */
export const stringifyJson = (value: unknown): string =>
  (hasSources(value) ? exactJson(value) : JSON.stringify(value)) ?? 'null';

/**
 * Whether a number in a value has its original text. If not, the faster `JSON.stringify` gives the
 * same.
 */
function hasSources(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (SOURCES in value) return true;
  for (const key in value) if (isObject(value[key]) && hasSources(value[key])) return true;
  return false;
}

/** JSON with the original numbers; undefined for what `JSON.stringify` omits, such as functions. */
function exactJson(value: unknown): string | undefined {
  if (!isObject(value) || typeof value['toJSON'] === 'function') return JSON.stringify(value);
  const sources = sourcesOf(value);
  if (Array.isArray(value)) {
    const items = value.map(
      (item, index) => (sources && numberSource(value, String(index))) ?? exactJson(item) ?? 'null',
    );
    return `[${items.join(',')}]`;
  }
  let text = '';
  for (const key of Object.keys(value)) {
    const member = (sources && numberSource(value, key)) ?? exactJson(value[key]);
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${member}`;
  }
  return `{${text}}`;
}
