import { type PrintedFailure, printedFields } from '../base/failure.ts';
import { jsonLine } from './format/ndjson.ts';
import { lengthText } from './format/time.ts';
import { asciiOnly, safeLine, safeText } from './terminal/safe-text.ts';
import type { Style } from './terminal/style.ts';

/**
 * Formats a failure for programs: one line of JSON, without absent members. `log` adds the members of a log
 * line.
 */
export function failureJson(
  failure: PrintedFailure,
  exit: number,
  log?: Readonly<Record<string, string>>,
): string {
  return `${jsonLine({ error: { ...printedFields(failure), exit }, ...log })}\n`;
}

/** How to print a failure: the width and style of the terminal. */
export interface ErrorLook {
  readonly width: number;
  readonly style: Style;
  readonly unicode: boolean;
}

/**
 * The maximum number of lines of each part of an error that are printed in full. All text after them is cut
 * to a single line, so that the error fits on one screen.
 */
const MAX_LINES = 8;

/**
 * A hint that ends with a command to copy. Such a command is never broken into lines: a shell would run the
 * first line of the copy as a complete command, without the flags that follow.
 */
const commandAtEnd = /^(?<before>.*\bwith:) (?<command>trdr .*)$/s;

/** Formats a failure for people: what happened, its code, and what to do next. */
export async function renderFailure(
  failure: PrintedFailure,
  { width, style, unicode }: ErrorLook,
): Promise<string> {
  const { wrap, truncate, widthOf } = await import('./terminal/width.ts');
  const room = Math.max(20, Math.min(width, 100));
  const shown = (text: string) => (unicode ? text : asciiOnly(text));
  const part = (label: string, text: string): string[] => {
    const lines = wrap(shown(text), room - label.length);
    const kept = lines.slice(0, MAX_LINES);
    if (lines.length > MAX_LINES)
      kept.push(truncate(lines.slice(MAX_LINES).join(' '), room - label.length, '...'));
    return kept.map((line, index) => (index === 0 ? label : ' '.repeat(label.length)) + line);
  };
  const why = [
    safeLine(failure.code),
    failure.status === undefined ? '' : `HTTP ${failure.status}`,
    failure.retryAfter === undefined ? '' : `retry after ${lengthText(failure.retryAfter * 1_000)}`,
    failure.requestId === undefined ? '' : `request ${safeLine(failure.requestId)}`,
  ].filter((item) => item !== '');

  const what = part('error: ', safeText(failure.message));
  const [first = '', ...rest] = what;
  const out = [style('bad', 'error:') + first.slice('error:'.length), ...rest];
  // Omit the code of a usage error, because the message alone is enough.
  if (failure.code !== 'USAGE') {
    const code = part(' '.repeat('error: '.length), `[${why.join(', ')}]`);
    const [only = ''] = code;
    const fits = code.length === 1 && widthOf(what.at(-1) ?? '') + 1 + widthOf(only.trimStart()) <= room;
    if (fits) out.push(`${out.pop()} ${style('dim', only.trimStart())}`);
    else out.push(...code.map((line) => style('dim', line)));
  }
  if (failure.hint) {
    const text = safeText(failure.hint);
    const { before = text, command } = commandAtEnd.exec(text)?.groups ?? {};
    const [hint = '', ...more] = part(' hint: ', before);
    const lines = [style('accent', ' hint:') + hint.slice(' hint:'.length), ...more];
    if (command !== undefined) {
      const last = more.at(-1) ?? hint;
      const fits = widthOf(last) + 1 + widthOf(shown(command)) <= room;
      if (fits) lines.push(`${lines.pop()} ${shown(command)}`);
      else lines.push(shown(command));
    }
    out.push(...lines);
  }
  return `${out.join('\n')}\n`;
}
