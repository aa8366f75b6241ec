import type { Value } from './values.ts';

/** Help, completion, docs and the parser are derived from this description of a flag. */
export interface Option<T> {
  /** The names as users write them: `-o, --output`, `--no-cache`. */
  readonly flags: string;
  readonly help: string;
  readonly value?: Value<unknown>;
  readonly repeatable?: boolean;
  readonly fallback?: T;
  /** The flags that cannot be combined with this flag, such as `--limit`. */
  readonly excludes?: readonly string[];
  readonly shown?: string;
  readonly group?: FlagGroup;
}

/** What users decide with flags: the titles under which help lists the flags of a command with many flags. */
export const flagGroups = [
  'What to read',
  'Start and end',
  'Where to put the posts',
  'Cost and delay',
  'As a service',
] as const;
type FlagGroup = (typeof flagGroups)[number];

export const flag = (flags: string, help: string): Option<boolean> => ({
  flags,
  help,
  fallback: false,
});

export const value = <T>(
  flags: string,
  help: string,
  kind: Value<T>,
  shown?: string,
): Option<T | undefined> => ({
  flags,
  help,
  value: kind,
  ...(shown !== undefined && { shown }),
});

export const valueOr = <T>(
  flags: string,
  help: string,
  kind: Value<T>,
  fallback: NoInfer<T>,
  shown?: string,
): Option<T> => ({ ...value(flags, help, kind, shown ?? String(fallback)), fallback });

export const excluding = <T>(option: Option<T>, ...excludes: readonly string[]): Option<T> => ({
  ...option,
  excludes,
});

export const list = <T>(flags: string, help: string, kind: Value<T>): Option<readonly T[]> => ({
  flags,
  help,
  value: kind,
  repeatable: true,
  fallback: [],
});

export const inGroup = <O extends Options>(group: FlagGroup, options: O): O =>
  Object.fromEntries(
    Object.entries(options).map(([key, option]) => [key, { ...option, group }]),
  ) as O;

export type Options = Readonly<Record<string, Option<unknown>>>;
export type GivenFlags<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

/** The flags of `set` without those of which a command has a version of its own, under the same name. */
export const notReplaced = (set: Options, own: Options): Options =>
  Object.fromEntries(Object.entries(set).filter(([key]) => !Object.hasOwn(own, key)));

export const longName = (option: Pick<Option<unknown>, 'flags'>): string => {
  const match = /--([a-z][a-z0-9-]*)/.exec(option.flags);
  if (!match?.[1]) throw new Error(`a flag without a long name: ${option.flags}`);
  return match[1];
};

export const shortName = (option: Pick<Option<unknown>, 'flags'>): string | undefined =>
  /(?:^|\s)-([A-Za-z])(?=,|\s|$)/.exec(option.flags)?.[1];
