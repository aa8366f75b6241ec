import type { Writable } from 'node:stream';
import { asciiOnly, safeLine } from './safe-text.ts';
import { truncate } from './width.ts';

/** A status line below the rows on a terminal. It is hidden while rows are written. */
export interface StatusLine {
  show(text: string): void;
  hide(): void;
}

export interface StatusOptions {
  readonly stream: Writable & { readonly columns?: number };
  /** Whether to show the line: false if stderr is not a terminal, or with --quiet. */
  readonly enabled: boolean;
  readonly unicode: boolean;
}

const CLEAR = '\r\x1b[2K';
/**
 * The number of columns that stay empty at the right edge. A terminal echoes ^C after the line, and a line
 * that wraps cannot be cleared.
 */
const SPARE = 5;

export function createStatusLine({ stream, enabled, unicode }: StatusOptions): StatusLine {
  let shown = false;
  return {
    show(text) {
      if (!enabled) return;
      const line = unicode ? safeLine(text) : asciiOnly(safeLine(text));
      const width = Math.max(10, (stream.columns || 80) - SPARE);
      stream.write(`${CLEAR}${truncate(line, width, unicode ? '…' : '...')}`);
      shown = true;
    },
    hide() {
      if (shown) stream.write(CLEAR);
      shown = false;
    },
  };
}
