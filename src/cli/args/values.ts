import type { Kind } from '../../base/values.ts';

export * from '../../base/values.ts';

/** A kind of value that a flag or an argument accepts, and how to complete it. */
export interface Value<T> extends Kind<T> {
  readonly complete?: 'file' | 'profile' | 'handle';
  /** A text that means the same as omitting the flag. */
  readonly absent?: string;
}

export const text = (name: string, complete?: Value<string>['complete']): Value<string> => ({
  name,
  noun: name,
  hint: '',
  read: (given) => given,
  ...(complete && { complete }),
});

export const file: Value<string> = {
  name: 'file',
  noun: 'file name',
  hint: 'name a file',
  complete: 'file',
  read: (given) => given || undefined,
};

/** A file to write to; `-` is stdout, as everywhere. */
export const outFile: Value<string> = { ...file, absent: '-' };
