import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { quoted } from '../../base/shell-word.ts';
import { countText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import { type Conditions, normalName, normalSymbol } from '../../core/pages/filter.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { savedValues } from '../lookup/token.ts';
import type { Context } from '../run/context.ts';

/** The fields of posts that flags select by, and how many posts are enough to know their values. */
interface ValueFields {
  readonly symbolField: string;
  readonly networkField: string;
  readonly pageRows: number;
  readonly noun: readonly [one: string, many?: string];
}

/** A flag whose values are those of a field. */
interface ValueFlag {
  readonly flag: string;
  readonly field: string;
  readonly values: readonly string[];
  /** Writes a value as posts have it, in lower case. */
  readonly normal: (text: string) => string;
  /** The name of the values among those that this machine has seen before. */
  readonly name: 'symbol' | 'network';
  /** How often each value was seen, as the posts have it. */
  readonly seen: Map<string, number>;
}

const MOST_SHOWN = 10;
const LONGEST_NAME = 20;

/**
 * Watches whether the first posts of a list have the values of --symbol and --network. A value that
 * does not exist, such as --network solana, would cost page after page and find nothing.
 */
export class UnseenValues {
  readonly #context: Context;
  readonly #flags: readonly ValueFlag[];
  readonly #fields: ValueFields;
  #posts = 0;
  #isDecided: boolean;

  constructor(context: Context, { symbol = [], network = [] }: Conditions, fields: ValueFields) {
    const { symbolField, networkField } = fields;
    const flags: readonly Omit<ValueFlag, 'flag' | 'seen'>[] = [
      { name: 'symbol', field: symbolField, values: symbol, normal: normalSymbol },
      { name: 'network', field: networkField, values: network, normal: normalName },
    ];
    this.#context = context;
    this.#flags = flags
      .filter(({ values }) => values.length > 0)
      .map((one) => ({ ...one, flag: `--${one.name}`, seen: new Map() }));
    this.#fields = fields;
    this.#isDecided = this.#flags.length === 0;
  }

  saw(post: Sent): void {
    if (this.#isDecided) return;
    this.#posts++;
    for (const { field, seen } of this.#flags) {
      const value = textOf(post[field]);
      if (value) seen.set(value, (seen.get(value) ?? 0) + 1);
    }
  }

  /** Says which values the first posts lack, of a feed without an end. */
  watch(post: Sent): void {
    if (this.#isDecided) return;
    this.saw(post);
    if (this.#posts < this.#fields.pageRows) return;
    this.#isDecided = true;
    for (const { text } of this.#lacking()) this.#context.terminal.notice(text);
  }

  /**
   * Called after each page; `next` is where the list continues. Once enough posts were seen, throws
   * if they have no value of a flag; says so if they lack one of several.
   */
  check(next: string | undefined): void {
    if (this.#isDecided || (this.#posts < this.#fields.pageRows && next !== undefined)) return;
    this.#isDecided = true;
    if (this.#posts === 0) return;
    for (const { flag, text, isAll } of this.#lacking()) {
      // A complete list, or one of other values, is an answer.
      if (next !== undefined && isAll) throw unseenFailure(flag, text, next);
      this.#context.terminal.notice(text);
    }
  }

  /** The flags of which values were not seen, and whether it is all of them. */
  *#lacking(): Generator<{ flag: string; text: string; isAll: boolean }> {
    for (const one of this.#flags) {
      const { flag, values, seen } = one;
      const unseen = this.#unseenOf(one);
      const isAll = unseen.length === values.length;
      if (unseen.length > 0) yield { flag, text: this.#textOf(unseen, seen), isAll };
    }
  }

  /** The values that neither these posts nor this machine has seen. */
  #unseenOf({ values, normal, name, seen }: ValueFlag): string[] {
    const inPosts = new Set([...seen.keys()].map(normal));
    const missing = values.filter((value) => !inPosts.has(normal(value)));
    if (missing.length === 0) return [];
    const before = new Set(savedValues(this.#context, name).map(normal));
    return missing.filter((value) => !before.has(normal(value)));
  }

  #textOf(unseen: readonly string[], seen: ReadonlyMap<string, number>): string {
    const names = [...seen]
      .sort(([, one], [, other]) => other - one)
      .map(([name]) => safeLine(name).slice(0, LONGEST_NAME));
    const more = names.length > MOST_SHOWN ? ', ...' : '';
    const shown = names.length === 0 ? 'none' : `${names.slice(0, MOST_SHOWN).join(', ')}${more}`;
    const wanted = unseen.map((value) => `"${value}"`).join(' or ');
    return `no ${wanted} among ${countText(this.#posts, ...this.#fields.noun)}; seen: ${shown}`;
  }
}

const unseenFailure = (flag: string, text: string, next: string) =>
  new Failure('missing', text, {
    code: 'UNSEEN_VALUE',
    hint: `check ${flag}; to read older posts anyway, add --before ${quoted(next)}`,
  });
