import { type TimeZoneOptions, timeText } from '../format/time.ts';
import { truncate, widthOf, wrap } from './width.ts';

/** The terminal on which a message is shown: its width in columns, and the time zone of its times. */
export interface ProseLook extends TimeZoneOptions {
  readonly columns: number;
}

/** The maximum number of columns of a text, because longer lines are hard to read. */
const WIDEST = 100;

/** The number of columns that a text for people may use. */
export const proseWidth = (columns: number): number => Math.max(20, Math.min(columns, WIDEST));

/**
 * A text that ends with a command to copy. Such a command is never broken into lines: a shell would run the
 * first line of the copy as a complete command, without the flags that follow.
 */
const commandAtEnd = /^(?<before>.*\bwith:) (?<command>trdr .*)$/s;

/** A time in UTC, except as the value of a flag, which belongs to a command to copy. */
const utcTime = /(?<!--[a-z-]+[ =]'?)\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/**
 * Wraps a message at words. The first line begins with the label, and the others are indented by its width. Times are
 * shown in the time zone of tables. All text after `most` lines is cut to a single line.
 */
export function proseLines(
  label: string,
  text: string,
  { columns, ...zone }: ProseLook,
  most = Number.POSITIVE_INFINITY,
): string[] {
  const room = proseWidth(columns);
  const shown = text.replace(utcTime, (time) => timeText(Date.parse(time), zone));
  const { before = shown, command } = commandAtEnd.exec(shown)?.groups ?? {};
  const lines = wrap(before, room - label.length);
  const kept = lines.slice(0, most);
  if (lines.length > most) kept.push(truncate(lines.slice(most).join(' '), room - label.length, '...'));
  const out = kept.map((line, index) => (index === 0 ? label : ' '.repeat(label.length)) + line);
  const last = out.at(-1) ?? '';
  if (command === undefined) return out;
  return widthOf(last) + 1 + widthOf(command) <= room
    ? [...out.slice(0, -1), `${last} ${command}`]
    : [...out, command];
}
