import { stringifyJson } from '../base/json.ts';
import { isRecord } from '../base/json-object.ts';
import { normalToken } from '../core/pages/filter.ts';
import { damagedCheckpoint } from './position.ts';
import { type TailRow, timeOf } from './post-row.ts';

/** A tail prints only the first of the posts with the same value of a field within this time. */
export interface CooldownRule {
  readonly field: string;
  readonly withinMs: number;
}

/** The rule as certificates name it among the filters. */
export const cooldownName = ({ field, withinMs }: CooldownRule): string => `${field}/${withinMs}ms`;

/** What was printed of a value, by post time, and how many of its posts were held back since. */
interface Printed {
  times: number[];
  held: number;
}

/** So much is remembered: a value counts once, and once more for each of its printed times. */
const MEMORY_MAX = 40_000;
/** The times of a value that are remembered, near the last one: files may come newest first. */
const TIMES_MAX = 500;
/** Forgetting reads everything that is remembered, so it waits for as many new times. */
const FORGET_AFTER = 1_000;

/**
 * Holds back posts whose value was printed within the time. It compares post times, so late posts
 * and recorded ones are treated as if they had come in order.
 */
export class Cooldown {
  /** How many posts were held back. */
  held = 0;
  readonly #rule: CooldownRule;
  readonly #verified: () => number | null;
  readonly #max: number;
  readonly #values: Map<string, Printed>;
  #added = 0;

  /** `verified` returns up to which time no more posts are expected; null if that is not known. */
  constructor(
    rule: CooldownRule,
    state?: unknown,
    verified = (): number | null => null,
    max = MEMORY_MAX,
  ) {
    this.#rule = rule;
    this.#verified = verified;
    this.#max = max;
    this.#values = new Map(valuesIn(state, rule));
  }

  /** Returns the row with the number of posts held back before it; undefined to hold it back. */
  add(row: TailRow): TailRow | undefined {
    const { at, record } = row;
    const value = textOf(record[this.#rule.field]);
    // Nothing shows that such a post repeats another one.
    if (at === null || value === undefined) return withHeld(row, 0);
    const printed = this.#values.get(value) ?? { times: [], held: 0 };
    if (printed.times.some((time) => Math.abs(time - at) < this.#rule.withinMs)) {
      printed.held++;
      this.held++;
      return undefined;
    }
    const { held } = printed;
    // The value moves to the end, so that the first values are those that were printed longest ago.
    this.#values.delete(value);
    const times = nearest(
      [...printed.times, at].sort((one, other) => one - other),
      at,
    );
    this.#values.set(value, { times, held: 0 });
    this.#added++;
    if (this.#added >= Math.min(FORGET_AFTER, this.#max)) this.#forget();
    return withHeld(row, held);
  }

  get state(): unknown {
    this.#forget();
    const values = [...this.#values].map(([value, { times, held }]) => [value, times, held]);
    return { rule: cooldownName(this.#rule), values };
  }

  /**
   * Forgets times with which no post can collide any more, then all but the newest time of a value,
   * and then what is printed longest ago.
   */
  #forget(): void {
    this.#added = 0;
    const from = (this.#verified() ?? Number.NEGATIVE_INFINITY) - this.#rule.withinMs;
    let size = 0;
    for (const [value, printed] of this.#values) {
      printed.times = printed.times.filter((at) => at > from);
      if (printed.times.length === 0 && printed.held === 0) this.#values.delete(value);
      else size += weightOf(printed);
    }
    for (const printed of this.#values.values()) {
      if (size <= this.#max) return;
      size -= weightOf(printed);
      printed.times = printed.times.slice(-1);
      size += weightOf(printed);
    }
    for (const [value, printed] of this.#values) {
      if (size <= this.#max) return;
      this.#values.delete(value);
      size -= weightOf(printed);
    }
  }
}

/** As many of the sorted times as are remembered, from the end that is nearer to this one. */
const nearest = (times: number[], at: number): number[] =>
  at < (times[TIMES_MAX / 2] ?? at) ? times.slice(0, TIMES_MAX) : times.slice(-TIMES_MAX);

const weightOf = ({ times }: Printed): number => 1 + times.length;

/** EVM addresses are the same in any case. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? normalToken(value) : stringifyJson(value);
}

/** The post as it is printed. The bytes of a frame lack the new field. */
const withHeld = ({ id, at, author, record }: TailRow, held: number): TailRow => ({
  id,
  at,
  author,
  raw: null,
  record: { ...record, held },
});

/** Reads the state that a position has. Times of another field say nothing about this one. */
function valuesIn(state: unknown, rule: CooldownRule): readonly (readonly [string, Printed])[] {
  if (state === undefined) return [];
  const { rule: name, values } = isRecord(state) ? state : {};
  if (typeof name !== 'string' || !Array.isArray(values) || !values.every(isValue))
    throw damagedCheckpoint('its state of a cooldown is damaged');
  if (!name.startsWith(`${rule.field}/`)) return [];
  return values.map(([value, times, held]) => [value, { times: [...times], held }]);
}

type SavedValue = readonly [value: string, times: readonly number[], held: number];

const isValue = (saved: unknown): saved is SavedValue =>
  Array.isArray(saved) &&
  typeof saved[0] === 'string' &&
  Array.isArray(saved[1]) &&
  saved[1].every((at) => timeOf(at) !== null) &&
  Number.isSafeInteger(saved[2]);
