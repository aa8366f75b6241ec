// JSON.parse turns 1.10 into 1.1, 1e400 into Infinity, and rounds 12345678901234567890. Objects
// therefore keep the original texts of such numbers under a symbol, which `{...record}` copies and
// JSON.stringify ignores.

/** Where an object keeps the original texts of its numbers: a map from member names to texts. */
const SOURCES = Symbol('numbers as they were written');

type Sources = Map<string, string>;

/** Recursive code that reads a deeper value could overflow the stack. */
const MAX_DEPTH = 200;

/**
 * Whether any parsed number needs its original text. Until then, the faster `JSON.stringify`
 * suffices.
 */
let anySources = false;

/** Also matches strings, so that numbers in them are skipped. */
const numbers = /"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d[\d.eE+-]*)/g;

const isExact = (token: string): boolean => String(Number(token)) === token;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const sourcesOf = (holder: object): Sources | undefined =>
  SOURCES in holder && holder[SOURCES] instanceof Map ? holder[SOURCES] : undefined;

export function setNumberSource(holder: object, key: string, source: string): void {
  const sources = sourcesOf(holder) ?? new Map<string, string>();
  sources.set(key, source);
  Object.defineProperty(holder, SOURCES, { value: sources, enumerable: true, configurable: true });
  anySources = true;
}

/** Undefined if the text is not valid JSON or is nested deeper than 200 levels. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
    if (isDeeper(value, MAX_DEPTH)) return undefined;
    if (hasInexactNumber(text)) value = withSources(text);
  } catch {
    // Not JSON; or a string with millions of escapes overflowed the stack of a scan, and the digits
    // are not kept.
  }
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isObject(value)) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper(value[key], levels - 1)) return true;
  return false;
}

/** Most texts have none, and need not be parsed again. */
function hasInexactNumber(text: string): boolean {
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

/** No service knows this text, so no string begins with it by accident. */
const MARK = `number ${process.hrtime.bigint()} `;

/** Undefined if JavaScript would write the number the same way. */
export function numberSource(holder: object, key: string): string | undefined {
  if (!anySources) return undefined;
  const source = sourcesOf(holder)?.get(key);
  // Copies made with `{...record}` share the map, and the number of a copy may have changed since.
  return source !== undefined && Object.is(Number(source), Reflect.get(holder, key))
    ? source
    : undefined;
}

export function copySources<T extends object>(target: T, ...origins: readonly unknown[]): T {
  if (!anySources) return target;
  for (const origin of origins) {
    const sources = isObject(origin) ? sourcesOf(origin) : undefined;
    for (const [key, source] of sources ?? []) setNumberSource(target, key, source);
  }
  return target;
}

/** JSON on one line with the original numbers; `null` for a value that JSON cannot represent. */
export function stringifyJson(value: unknown): string {
  return (anySources ? written(value) : JSON.stringify(value)) ?? 'null';
}

/** Undefined for values that `JSON.stringify` omits, such as functions. */
function written(value: unknown): string | undefined {
  if (!isObject(value) || typeof value['toJSON'] === 'function') return JSON.stringify(value);
  const sources = sourcesOf(value);
  if (Array.isArray(value)) {
    const items = value.map(
      (item, index) => (sources && numberSource(value, String(index))) ?? written(item) ?? 'null',
    );
    return `[${items.join(',')}]`;
  }
  let text = '';
  for (const key of Object.keys(value)) {
    const member = (sources && numberSource(value, key)) ?? written(value[key]);
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${member}`;
  }
  return `{${text}}`;
}
