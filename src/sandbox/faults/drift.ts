import { isRecord } from '../../base/json-object.ts';
import { below, pick, type Random } from '../random.ts';

/** These members never change, because without them a response could not be read at all. */
const STRUCTURE = new Set([
  'data',
  'meta',
  'type',
  'items',
  'entries',
  'missing',
  'windows',
  'usage',
]);

type FieldPlace = readonly [holder: Record<string, unknown>, name: string];

function placesIn(value: unknown, fixed: ReadonlySet<string>): FieldPlace[] {
  if (Array.isArray(value)) return value.flatMap((item) => placesIn(item, fixed));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]): FieldPlace[] => {
    const places = placesIn(inner, fixed);
    return fixed.has(name) ? places : [[value, name], ...places];
  });
}

const retyped = (value: unknown, random: Random): unknown =>
  pick<unknown>(random, [
    typeof value === 'string' ? value.length : JSON.stringify(value),
    typeof value === 'number' ? value + 0.5 : 7,
    true,
    [value],
    { value },
    [],
    {},
    '2026-05-15T12:00:00Z',
    '12345678901234567890',
  ]);

/** Changes `count` random members. @internal Exported for tests. */
export function driftValue(value: unknown, random: Random, count: number, fixed = STRUCTURE): void {
  for (let change = 0; change < count; change++) {
    const places = placesIn(value, fixed);
    if (places.length === 0) return;
    const [holder, name] = pick(random, places);
    const kind = below(random, 5);
    if (kind === 0) delete holder[name];
    else if (kind === 1) holder[name] = null;
    else if (kind === 2) holder[name] = retyped(holder[name], random);
    else if (kind === 3) holder[name] = { [name]: holder[name] };
    else holder[`${name}V2`] = retyped(holder[name], random);
  }
}

export function driftText(text: string, random: Random): string {
  const value: unknown = JSON.parse(text);
  driftValue(value, random, 1 + below(random, 4));
  return JSON.stringify(value);
}
