import type { Failure } from '../base/failure.ts';
import { jsonLine } from './format/ndjson.ts';
import { asciiOnly, safeLine, safeText } from './terminal/safe-text.ts';
import type { Style } from './terminal/style.ts';

/** What a failure needs to be shown: a Failure has it all. */
export type Shown = Pick<
  Failure,
  'message' | 'code' | 'status' | 'retryable' | 'retryAfter' | 'requestId' | 'hint'
>;

/** A failure as a program reads it: one line, members that are absent left out. */
export function failureJson(failure: Shown, exit: number): string {
  const { code, message, status, retryable, retryAfter, requestId, hint } = failure;
  const error = { code, message, status, retryable, retryAfter, requestId, hint, exit };
  return `${jsonLine({ error })}\n`;
}

/** How wide and how coloured a failure is shown. */
export interface ErrorLook {
  readonly width: number;
  readonly style: Style;
  readonly unicode: boolean;
}

/** The most lines a part of an error takes: it stays on one screen. */
const LINES = 8;

/** A failure as a person reads it: what happened, why, and what to do next. */
export async function renderFailure(failure: Shown, { width, style, unicode }: ErrorLook): Promise<string> {
  const { wrap, truncate } = await import('./terminal/width.ts');
  const room = Math.max(20, Math.min(width, 100));
  const shown = (text: string) => (unicode ? text : asciiOnly(text));
  const part = (label: string, text: string): string[] => {
    const lines = wrap(shown(text), room - label.length);
    const kept = lines.slice(0, LINES);
    if (lines.length > LINES) kept.push(truncate(lines.slice(LINES).join(' '), room - label.length, '...'));
    return kept.map((line, index) => (index === 0 ? label : ' '.repeat(label.length)) + line);
  };
  const why = [
    safeLine(failure.code),
    failure.status === undefined ? '' : `HTTP ${failure.status}`,
    failure.retryAfter === undefined ? '' : `retry after ${failure.retryAfter}s`,
    failure.requestId === undefined ? '' : `request ${safeLine(failure.requestId)}`,
  ].filter((item) => item !== '');

  const what = part('error: ', safeText(failure.message));
  const [first = '', ...rest] = what;
  const out = [style('bad', 'error:') + first.slice('error:'.length), ...rest];
  if (failure.code !== 'USAGE')
    out.push(...part('  why: ', why.join(', ')).map((line) => style('dim', line)));
  if (failure.hint) {
    const [next = '', ...more] = part(' next: ', safeText(failure.hint));
    out.push(style('accent', ' next:') + next.slice(' next:'.length), ...more);
  }
  return `${out.join('\n')}\n`;
}
