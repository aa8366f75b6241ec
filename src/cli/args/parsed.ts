import type { Globals } from './common.ts';
import type { GivenFlags, Options } from './option.ts';
import type { Value } from './values.ts';

/** What a command line says: arguments, the command's own flags, and common flags. */
export interface Parsed {
  readonly args: readonly string[];
  readonly flags: GivenFlags<Options>;
  readonly globals: Globals;
  /** The files that the line names. The path `-` stands for stdin. */
  readonly files: readonly NamedFile[];
}

/** A file that the line names, and the flag or argument that names it. */
export interface NamedFile {
  readonly role: string;
  readonly path: string;
  /** The files that a run creates beside it; undefined if it is only read. */
  readonly writes?: Value<unknown>['writes'];
}
