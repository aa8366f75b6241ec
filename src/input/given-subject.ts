import { usageError } from '../base/failure.ts';

/** A subject as the user wrote it, with its place, such as `line 3`, if it comes from a file. */
export interface GivenSubject {
  readonly text: string;
  readonly where?: string;
}

/** A table as trdr draws it for people has no cells to read, and shortens wallets. */
export function refuseDrawn(name: string, header: string): void {
  if (/^\||^[\w.%()-]+ {2,}\S/.test(header)) throw drawn(name);
}

export const drawn = (name: string) =>
  usageError(
    `${name} is a table for people`,
    'write it again with -o csv, tsv, ndjson or json, and select the column with --column NAME',
  );
