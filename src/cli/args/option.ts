import type { Value } from './values.ts';

/** A flag as data. Help, completion, docs and the parser use it. `T` is the type of its value. */
export interface Option<T> {
  /** The names as users write them: `-o, --output`, `--no-cache`. */
  readonly flags: string;
  readonly help: string;
  readonly value?: Value<unknown>;
  readonly repeatable?: boolean;
  readonly fallback?: T;
  /** The default that help shows, if the real default is determined elsewhere. */
  readonly shown?: string;
}

/** A flag without a value; true if it is given. */
export const flag = (flags: string, help: string): Option<boolean> => ({
  flags,
  help,
  fallback: false,
});

/** A flag with a value and no default. */
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

/** A flag with a value and a default. */
export const valueOr = <T>(
  flags: string,
  help: string,
  kind: Value<T>,
  fallback: NoInfer<T>,
  shown?: string,
): Option<T> => ({
  flags,
  help,
  value: kind,
  fallback,
  shown: shown ?? String(fallback),
});

/** A flag that can be repeated. */
export const list = <T>(flags: string, help: string, kind: Value<T>): Option<readonly T[]> => ({
  flags,
  help,
  value: kind,
  repeatable: true,
  fallback: [],
});

export type Options = Readonly<Record<string, Option<unknown>>>;
/** The values of a set of flags. */
export type GivenFlags<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};

/** The long name of a flag, without dashes: `no-cache`, `output`. */
export const longName = (option: Pick<Option<unknown>, 'flags'>): string => {
  const match = /--([a-z][a-z0-9-]*)/.exec(option.flags);
  if (!match?.[1]) throw new Error(`a flag without a long name: ${option.flags}`);
  return match[1];
};

/** The short name of a flag without its dash, such as `o`; undefined if it has none. */
export const shortName = (option: Pick<Option<unknown>, 'flags'>): string | undefined =>
  /(?:^|\s)-([A-Za-z])(?=,|\s|$)/.exec(option.flags)?.[1];
