import { timeText } from '../format/time.ts';
import { truncate, widthOf, wrap } from './width.ts';

export interface ProseLook {
  readonly utc: boolean;
  readonly columns: number;
}

/** Longer lines are hard to read. */
const WIDEST = 100;

export const proseWidth = (columns: number): number => Math.max(20, Math.min(columns, WIDEST));

/**
 * Never broken into lines: a shell would run the first line of a copy without the flags that
 * follow.
 */
const commandAtEnd = /^(?<before>.*\bwith:) (?<command>trdr .*)$/s;

/** Not the value of a flag, which belongs to a command to copy. */
const utcTime = /(?<!--[a-z-]+[ =]'?)\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

/** Wraps at words, indented by the label. Text after `maxLines` lines is cut to one line. */
export function proseLines(
  label: string,
  text: string,
  { columns, utc }: ProseLook,
  maxLines = Number.POSITIVE_INFINITY,
): string[] {
  const room = proseWidth(columns);
  const shown = text.replace(utcTime, (time) => timeText(Date.parse(time), utc));
  const { before = shown, command } = commandAtEnd.exec(shown)?.groups ?? {};
  const lines = wrap(before, room - label.length);
  const kept = lines.slice(0, maxLines);
  if (lines.length > maxLines)
    kept.push(truncate(lines.slice(maxLines).join(' '), room - label.length, '...'));
  const out = kept.map((line, index) => (index === 0 ? label : ' '.repeat(label.length)) + line);
  const last = out.at(-1) ?? '';
  if (command === undefined) return out;
  return widthOf(last) + 1 + widthOf(command) <= room
    ? [...out.slice(0, -1), `${last} ${command}`]
    : [...out, command];
}
