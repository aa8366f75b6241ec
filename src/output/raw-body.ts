import { plainJson } from '../base/json-object.ts';
import { safeJson, safeLine, safeText } from './terminal/safe-text.ts';

export function shownBody(text: string): string {
  if (text === '') return '';
  const shown = plainJson(text) !== undefined ? safeJson(indentJson(text)) : safeText(text);
  return shown.endsWith('\n') ? shown : `${shown}\n`;
}

/** Indents JSON without parsing it, so that numbers and texts keep their spelling. */
export function indentJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let before = '';
  const line = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const opened = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth--;
      if (!opened) out.push(line());
    } else if (opened || before === ',') out.push(line());
    else if (before === ':') out.push(' ');
    out.push(token);
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return out.join('');
}

export function headText(
  status: number,
  reason: string,
  headers: Readonly<Record<string, string>>,
  terminal: boolean,
): string {
  const lines = [
    `HTTP/1.1 ${status} ${reason}`.trimEnd(),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ];
  return terminal ? lines.map(safeLine).join('\n') : lines.join('\r\n');
}
