import type { Writable } from 'node:stream';
import { asciiOnly, safeLine } from './safe-text.ts';
import { truncate } from './width.ts';

const CLEAR = '\r\x1b[2K';
/** A terminal echoes ^C after the line, and a line that wraps cannot be cleared. */
const SPARE = 5;

export const widthFor = ({ columns }: { readonly columns?: number }): number =>
  (columns || 80) - SPARE;

/**
 * The text of a line that is redrawn: without escapes, and cut to the width, because a line that
 * wraps cannot be cleared.
 */
export function redrawnLine(text: string, width: number, unicode: boolean): string {
  const line = unicode ? safeLine(text) : asciiOnly(safeLine(text));
  return truncate(line, width, unicode ? '…' : '...');
}

export interface StatusLine {
  show(text: string): void;
  hide(): void;
}

/**
 * Creates a line that is hidden while rows are written. It is not enabled if stderr is not a
 * terminal, or with --quiet.
 */
export function createStatusLine(
  stream: Writable & { readonly columns?: number },
  enabled: boolean,
  unicode: boolean,
): StatusLine {
  let shown = false;
  return {
    show(text: string): void {
      if (!enabled) return;
      const width = Math.max(10, widthFor(stream));
      stream.write(`${CLEAR}${redrawnLine(text, width, unicode)}`);
      shown = true;
    },
    hide(): void {
      if (shown) stream.write(CLEAR);
      shown = false;
    },
  };
}
