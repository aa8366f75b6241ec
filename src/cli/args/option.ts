import { Option } from 'commander';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import type { Value } from './values.ts';

/**
 * A term that is longer than this would leave too little room for its description on 80 columns.
 */
const LONGEST_TERM = 32;

/** A flag: an option of commander whose text is read by the kind of its value. */
export class Flag<T> extends Option {
  declare defaultValue: T;
  readonly kind: Value<unknown> | undefined;
  /** The flags that cannot be combined with this flag, such as `--limit`. */
  readonly excludes: string[] = [];
  isRepeatable = false;

  constructor(flags: string, help: string, kind: Value<unknown> | undefined, fallback: T) {
    super(kind ? `${flags} <${placeholderOf(flags, kind)}>` : flags, help);
    this.kind = kind;
    if (kind?.choices) this.argChoices = [...kind.choices];
    // Commander stores false for `--no-cache` under the name `cache`, whose default is true.
    if (!this.negate) this.defaultValue = fallback;
    if (kind) this.argParser((text: string, before: unknown) => this.#add(text, before));
  }

  #add(text: string, before: unknown): unknown {
    if (!this.isRepeatable) return this.#read(text);
    // One flag can hold a list, `7d,30d`, unless a value itself may contain commas.
    const texts = this.kind?.hasCommas ? [text] : text.split(',').map((part) => part.trim());
    if (texts.length > 1 && texts.includes(''))
      throw usageError(`empty value in the list for ${this.long}`, 'separate values by one comma');
    return [...(Array.isArray(before) ? before : []), ...texts.map((part) => this.#read(part))];
  }

  /**
   * Commander would store an empty text for `undefined`, so a text that means "absent" stays as it
   * is.
   */
  #read(text: string): unknown {
    const { kind } = this;
    if (kind === undefined || text === kind.absent) return text;
    const value = kind.read(text);
    if (value !== undefined) return value;
    const near = didYouMean(text, kind.choices ?? []);
    throw usageError(`invalid ${kind.noun} "${text}" for ${this.long}`, near || kind.hint);
  }

  /**
   * Flags are shared by commands, so a command that groups a flag or lets it exclude others takes a
   * copy.
   */
  copy(): Flag<T> {
    const [flags = ''] = this.flags.split(' <');
    const copy = new Flag(flags, this.description, this.kind, this.defaultValue);
    copy.default(this.defaultValue, this.defaultValueDescription);
    copy.isRepeatable = this.isRepeatable;
    if (this.helpGroupHeading !== undefined) copy.helpGroup(this.helpGroupHeading);
    return copy.excluding(this.excludes);
  }

  excluding(flags: readonly string[]): this {
    this.excludes.push(...flags);
    return this.conflicts(flags.map((flag) => new Option(flag).attributeName()));
  }
}

function placeholderOf(flags: string, { name, noun, choices }: Value<unknown>): string {
  const isLong = flags.length + name.length + ' <>'.length > LONGEST_TERM;
  return choices && isLong ? noun : name;
}

/**
 * What users decide with flags: the titles under which help lists the flags of a command with many
 * flags.
 */
type FlagGroup =
  | 'What to read'
  | 'Start and end'
  | 'Where to put the posts'
  | 'Cost and delay'
  | 'As a service';

export const flag = (flags: string, help: string): Flag<boolean> =>
  new Flag(flags, help, undefined, false);

export const value = <T>(
  flags: string,
  help: string,
  kind: Value<T>,
  shown?: string,
): Flag<T | undefined> =>
  new Flag<T | undefined>(flags, help, kind, undefined).default(undefined, shown);

export const valueOr = <T>(
  flags: string,
  help: string,
  kind: Value<T>,
  fallback: NoInfer<T>,
  shown = String(fallback),
): Flag<T> => new Flag<T>(flags, help, kind, fallback).default(fallback, shown);

export const excluding = <T>(option: Flag<T>, ...excludes: readonly string[]): Flag<T> =>
  option.copy().excluding(excludes);

export function list<T>(flags: string, help: string, kind: Value<T>): Flag<readonly T[]> {
  const made = new Flag<readonly T[]>(flags, help, kind, []);
  made.isRepeatable = true;
  return made;
}

export const inGroup = <O extends Options>(group: FlagGroup, options: O): O =>
  Object.fromEntries(
    Object.entries(options).map(([key, option]) => [key, option.copy().helpGroup(`${group}:`)]),
  ) as O;

export type Options = Readonly<Record<string, Flag<unknown>>>;
export type GivenFlags<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Flag<infer T> ? T : never;
};

/**
 * The flags of `set` without those of which a command has a version of its own, under the same
 * name.
 */
export const notReplaced = (set: Options, own: Options): Options =>
  Object.fromEntries(Object.entries(set).filter(([key]) => !Object.hasOwn(own, key)));
