import type { TimeZoneOptions } from './time.ts';

/** What a cell's colour says. The words, the sign or a mark say it too. */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'match';

/** All that formatting needs to know of the world. */
export interface FormatContext extends TimeZoneOptions {
  readonly now: () => number;
  /** False where the terminal shows ASCII alone. */
  readonly unicode: boolean;
}

/** A cell for a person: the same thing said in ever fewer characters, the first being the fullest. */
export interface Cell {
  readonly forms: readonly string[];
  readonly tone: Tone;
}
