import type { Writable } from 'node:stream';
import { jsonLine } from './format/ndjson.ts';
import { asciiOnly, safeLine } from './terminal/safe-text.ts';

/** How lines on stderr look: for a person, with their time, or as JSON. */
export type LogForm = 'plain' | 'stamped' | 'json';

/** How serious a line is. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

export interface NoticeOptions {
  /** Called for the first notice. */
  readonly stream: () => Writable;
  /** Suppresses all notices. */
  readonly quiet: boolean;
  readonly unicode: boolean;
  readonly form?: LogForm | undefined;
  readonly now?: (() => number) | undefined;
}

/** Writes one-line notices to the user; a closed stderr is ignored. Traces are written even if it is quiet. */
export function createNotices({
  stream,
  quiet,
  unicode,
  form = 'plain',
  now = () => 0,
}: NoticeOptions): (text: string, level?: LogLevel) => void {
  let out: Writable | undefined;
  return (text, level = levelOf(text)) => {
    if (quiet && level !== 'debug') return;
    out ??= stream().on('error', () => {});
    if (out.destroyed) return;
    const line = safeLine(text);
    const time = form === 'plain' ? '' : new Date(now()).toISOString();
    if (form === 'json') out.write(`${jsonLine({ time, level, message: line })}\n`);
    else out.write(`${time}${time === '' ? '' : ' '}trdr: ${unicode ? line : asciiOnly(line)}\n`);
  };
}

const levelOf = (text: string): LogLevel => (/^(?:warning|GAP):/.test(text) ? 'warning' : 'info');
