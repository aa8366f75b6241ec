import type { Random } from '../random.ts';

type JsonObject = Record<string, unknown>;

interface Place {
  readonly holder: JsonObject;
  readonly name: string;
}

/**
 * The names of members that are never changed, because without them a response could not be parsed at all.
 */
const STRUCTURE = new Set(['data', 'meta', 'type', 'items', 'entries', 'missing', 'windows', 'usage']);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every member of every object in a value, except the members that are never changed. */
function placesIn(value: unknown, fixed: ReadonlySet<string>): Place[] {
  if (Array.isArray(value)) return value.flatMap((item) => placesIn(item, fixed));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(fixed.has(name) ? [] : [{ holder: value, name }]),
    ...placesIn(inner, fixed),
  ]);
}

function retyped(value: unknown, random: Random): unknown {
  const others: readonly unknown[] = [
    typeof value === 'string' ? value.length : JSON.stringify(value),
    typeof value === 'number' ? value + 0.5 : 7,
    true,
    [value],
    { value },
    [],
    {},
    '2026-05-15T12:00:00Z',
    '12345678901234567890',
  ];
  return others[Math.floor(random() * others.length)];
}

const pick = <T>(items: readonly T[], random: Random): T | undefined =>
  items[Math.floor(random() * items.length)];

/**
 * Changes `count` random members of a value: removes them, sets them to null, changes their type, nests them,
 * or adds new ones.
 * @internal Exported for tests.
 */
export function driftValue(
  value: unknown,
  random: Random,
  count: number,
  fixed: ReadonlySet<string> = STRUCTURE,
): void {
  for (let change = 0; change < count; change++) {
    const place = pick(placesIn(value, fixed), random);
    if (!place) return;
    const { holder, name } = place;
    const kind = Math.floor(random() * 5);
    if (kind === 0) delete holder[name];
    else if (kind === 1) holder[name] = null;
    else if (kind === 2) holder[name] = retyped(holder[name], random);
    else if (kind === 3) holder[name] = { [name]: holder[name] };
    else holder[`${name}V2`] = retyped(holder[name], random);
  }
}

/** Changes a few members of JSON text; returns any other text unchanged. */
export function driftText(text: string, random: Random): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  driftValue(value, random, 1 + Math.floor(random() * 4));
  return JSON.stringify(value);
}
