// JSON without loss of digits. `JSON.parse` turns 1.10 into 1.1 and 1e400 into Infinity, and rounds
// 12345678901234567890. Parsed objects contain ordinary numbers. If JavaScript would write a number
// differently, the object also stores the number's original text, under a symbol. `{...record}` copies the
// symbol; `JSON.stringify` ignores the symbol.

/** Where an object keeps the original texts of its numbers: a map from member names to texts. */
const SOURCES = Symbol('numbers as they were written');

type Sources = Map<string, string>;

/** Recursive code that reads a deeper value could overflow the stack. */
const MAX_DEPTH = 200;

/** Whether any parsed number needs its original text. Until then, the faster `JSON.stringify` suffices. */
let anySources = false;

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]/g;
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
    if (hasInexactNumber(text)) keepSources(text, value);
  } catch {
    // Not JSON; or a string with millions of escapes overflowed the stack of a scan, and the digits are not kept.
  }
  return value;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isObject(value)) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper(value[key], levels - 1)) return true;
  return false;
}

/** Most texts have none, and this scan is faster than that of `keepSources`. */
function hasInexactNumber(text: string): boolean {
  for (const [, number] of text.matchAll(numbers)) if (number !== undefined && !isExact(number)) return true;
  return false;
}

/** A nested object or array around the current position of the scan, with its current key or index. */
interface Level {
  /** Undefined if a later duplicate of its key replaced it. */
  readonly holder: Record<string, unknown> | undefined;
  readonly isArray: boolean;
  index: number;
  key: string;
  expectsKey: boolean;
}

/** Scans the text alongside the parsed value, and keeps the texts of inexact numbers. */
function keepSources(text: string, root: unknown): void {
  const levels: Level[] = [];
  for (const [token] of text.matchAll(tokens)) {
    const level = levels.at(-1);
    switch (token[0]) {
      case '{':
      case '[': {
        const isArray = token === '[';
        const child = level ? level.holder?.[level.key] : root;
        const holder = isObject(child) && Array.isArray(child) === isArray ? child : undefined;
        levels.push({ holder, isArray, index: 0, key: '0', expectsKey: !isArray });
        break;
      }
      case '}':
      case ']':
        levels.pop();
        break;
      case ',':
        if (level?.isArray) level.key = String(++level.index);
        else if (level) level.expectsKey = true;
        break;
      case ':':
        if (level) level.expectsKey = false;
        break;
      case '"':
        if (level?.expectsKey) level.key = String(JSON.parse(token));
        break;
      default:
        if (!level?.holder) break;
        if (!isExact(token)) setNumberSource(level.holder, level.key, token);
        // Of duplicate keys, JSON.parse uses the last one.
        else sourcesOf(level.holder)?.delete(level.key);
    }
  }
}

/** Undefined if JavaScript would write the number the same way. */
export function numberSource(holder: object, key: string): string | undefined {
  if (!anySources) return undefined;
  const source = sourcesOf(holder)?.get(key);
  // Copies made with `{...record}` share the map, and the number of a copy may have changed since.
  return source !== undefined && Object.is(Number(source), Reflect.get(holder, key)) ? source : undefined;
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
