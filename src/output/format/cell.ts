import type { TimeZoneOptions } from './time.ts';

/**
 * The meaning of a cell's color. The same meaning is always visible without color, from words, a sign or a
 * mark.
 */
export type Tone = 'plain' | 'strong' | 'dim' | 'accent' | 'good' | 'bad' | 'warn' | 'match';

/** The settings on which formatting depends. */
export interface FormatContext extends TimeZoneOptions {
  readonly now: () => number;
  /** False if the terminal can only show ASCII. */
  readonly unicode: boolean;
}

/** A formatted value. */
export interface Cell {
  readonly text: string;
  readonly tone: Tone;
}
