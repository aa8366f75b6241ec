import type { Writable } from 'node:stream';
import { jsonLine } from './ndjson.ts';
import { asciiOnly, safeLine } from './safe.ts';
import type { Style } from './style.ts';

/** How much a notice matters. */
type NoticeLevel = 'note' | 'warning';

/** One-line words to the user, on stderr. */
export interface Notices {
  note(text: string): void;
  /** Something that may cost or lose. */
  warn(text: string): void;
}

export interface NoticeOptions {
  readonly stream: Writable;
  /** Nothing at all is said. */
  readonly quiet: boolean;
  /** One JSON object a line, for whoever reads stderr with a program. */
  readonly json: boolean;
  readonly style: Style;
  readonly unicode: boolean;
}

/** Writes notices; a reader of stderr that has gone is no reason to fail. */
export function createNotices({ stream, quiet, json, style, unicode }: NoticeOptions): Notices {
  stream.on('error', () => {});
  const say = (level: NoticeLevel, text: string) => {
    if (quiet || stream.destroyed) return;
    const line = safeLine(text);
    if (json) stream.write(`${jsonLine({ notice: { level, message: line } })}\n`);
    else {
      const words = unicode ? line : asciiOnly(line);
      stream.write(
        `${level === 'warning' ? `${style('warn', 'warning:')} ${words}` : style('dim', words)}\n`,
      );
    }
  };
  return { note: (text) => say('note', text), warn: (text) => say('warning', text) };
}
