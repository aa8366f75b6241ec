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
  } catch {
    return undefined;
  }
  if (hasManyBrackets(text) && isDeeper(value, MAX_DEPTH)) return undefined;
  if (hasInexactNumber(text)) keepSources(text, value);
  return value;
}

/** Most texts have few brackets, and need no closer look. */
function hasManyBrackets(text: string): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > MAX_DEPTH) return true;
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

const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const POINT = 0x2e;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** A loop over the characters is four times faster than a regular expression. */
function hasInexactNumber(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (code !== MINUS && !(code >= ZERO && code <= NINE)) continue;
    const start = at;
    let last = code;
    let point = false;
    for (code = text.charCodeAt(++at); code === POINT || (code >= ZERO && code <= NINE); ) {
      if (code === POINT) point = true;
      last = code;
      code = text.charCodeAt(++at);
    }
    const digits = text.charCodeAt(start) === MINUS ? start + 1 : start;
    const exponent = code === 0x65 || code === 0x45;
    // A double represents 15 digits exactly. JavaScript writes shorter numbers differently only if they look
    // like 1.10, 0.0000001, 1e5 or -0.
    const short = point
      ? last === ZERO || text.startsWith('0.000000', digits)
      : digits > start && last === ZERO && at === digits + 1;
    if (exponent || short || at - start > 15) {
      while (/[\d.eE+-]/.test(text.charAt(at))) at++;
      if (!isExact(text.slice(start, at))) return true;
    }
    at--;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (text.charCodeAt(end - 1) === BACKSLASH) {
    let first = end - 1;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) break;
    end = text.indexOf('"', end + 1);
  }
  return end;
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
