import type { Kind } from '../../base/values.ts';

export interface Value<T> extends Kind<T> {
  readonly complete?: 'file' | 'profile' | 'handle';
  /** The files that a run creates beside the file, by their purpose, as endings of its name. */
  readonly writes?: Readonly<Record<string, string>>;
  /** Whether a value may contain commas, so that a list needs a flag for each. */
  readonly hasCommas?: boolean;
  /** A text that has the same effect as omitting the flag. */
  readonly absent?: string;
}

export const text = (name: string, complete?: Value<string>['complete']): Value<string> => ({
  name,
  noun: name,
  hint: '',
  read: (typed) => typed,
  ...(complete && { complete }),
});

export const file: Value<string> = {
  name: 'file',
  noun: 'file name',
  hint: 'write the path of a file',
  complete: 'file',
  hasCommas: true,
  read: (typed) => typed || undefined,
};

export const folder: Value<string> = {
  ...file,
  name: 'folder',
  noun: 'folder name',
  hint: 'write the path of a folder',
};

/** A file to write to; `-` means stdout. */
export const outFile: Value<string> = {
  ...file,
  absent: '-',
  writes: { lock: '.lock', journal: '.journal', position: '.trdr' },
};

/** A checkpoint, with the batches that the command of --exec did not accept. */
export const checkpointFile: Value<string> = {
  ...file,
  writes: { lock: '.lock', 'dead-letter file': '.dead.ndjson' },
};

/** A receipt; `-` means stderr. */
export const receiptFile: Value<string> = { ...file, writes: {} };

export const statusFile: Value<string> = { ...file, writes: { lock: '.lock' } };
