import type { TimeZoneOptions } from './time.ts';

/** The meaning of a cell's color. Words, a sign or a mark always convey the same. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'match';

/** The settings that formatting depends on. */
export interface FormatContext extends TimeZoneOptions {
  readonly now: () => number;
  /** False if the terminal only shows ASCII. */
  readonly unicode: boolean;
}

/** A formatted cell: the same value in several forms, the longest first. */
export interface Cell {
  readonly forms: readonly string[];
  readonly tone: Tone;
}
