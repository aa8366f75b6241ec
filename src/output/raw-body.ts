import { safeJson, safeLine, safeText } from './terminal/safe-text.ts';

/** An answer as it came, for a person: JSON spread out, and nothing in it that a terminal obeys. */
export function shownBody(text: string): string {
  if (text === '') return '';
  const shown = isJson(text) ? safeJson(spread(text)) : safeText(text);
  return shown.endsWith('\n') ? shown : `${shown}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Spreads JSON out without reading it: numbers and texts stay as they were written. */
export function spread(text: string): string {
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

/** The status line and the headers of an answer, as HTTP writes them; `terminal`: for a person. */
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
