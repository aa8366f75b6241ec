import type { PrintedFailure } from '../base/failure.ts';
import { jsonLine } from './format/ndjson.ts';
import { lengthText } from './format/time.ts';
import type { ProseLook } from './terminal/prose.ts';
import { asciiOnly, safeLine, safeText } from './terminal/safe-text.ts';
import type { Style } from './terminal/style.ts';

export function failureJson(
  failure: PrintedFailure,
  exit: number,
  log?: Readonly<Record<string, string>>,
): string {
  return `${jsonLine({ error: { ...failure, exit }, ...log })}\n`;
}

interface ErrorLook extends ProseLook {
  readonly style: Style;
  readonly unicode: boolean;
}

/**
 * The lines of each part of an error, so that it fits on one screen. The rest is cut to a single
 * line.
 */
const MAX_LINES = 8;

export async function renderFailure(
  failure: PrintedFailure,
  { style, unicode, ...look }: ErrorLook,
): Promise<string> {
  const { proseLines, proseWidth } = await import('./terminal/prose.ts');
  const { widthOf } = await import('./terminal/width.ts');
  const part = (label: string, text: string) =>
    proseLines(label, unicode ? text : asciiOnly(text), look, MAX_LINES);
  const why = [
    safeLine(failure.code),
    failure.status === undefined ? '' : `HTTP ${failure.status}`,
    failure.retryAfter === undefined ? '' : `retry after ${lengthText(failure.retryAfter * 1_000)}`,
    failure.requestId === undefined ? '' : `request ${safeLine(failure.requestId)}`,
  ].filter((item) => item !== '');

  const what = part('error: ', safeText(failure.message));
  const [first = '', ...rest] = what;
  const out = [style('bad', 'error:') + first.slice('error:'.length), ...rest];
  if (failure.code !== 'USAGE') {
    const code = part(' '.repeat('error: '.length), `[${why.join(', ')}]`);
    const [only = ''] = code;
    const fits =
      code.length === 1 &&
      widthOf(what.at(-1) ?? '') + 1 + widthOf(only.trimStart()) <= proseWidth(look.columns);
    if (fits) out.push(`${out.pop()} ${style('dim', only.trimStart())}`);
    else out.push(...code.map((line) => style('dim', line)));
  }
  if (failure.hint) {
    const [hint = '', ...more] = part(' hint: ', safeText(failure.hint));
    out.push(style('accent', ' hint:') + hint.slice(' hint:'.length), ...more);
  }
  return `${out.join('\n')}\n`;
}
