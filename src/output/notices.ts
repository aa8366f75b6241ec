import type { Writable } from 'node:stream';
import { asciiOnly, safeLine } from './safe.ts';

export interface NoticeOptions {
  readonly stream: Writable;
  /** Nothing at all is said. */
  readonly quiet: boolean;
  readonly unicode: boolean;
}

/** Writes one-line notices to the user; a reader of stderr that has gone is no reason to fail. */
export function createNotices({ stream, quiet, unicode }: NoticeOptions): (text: string) => void {
  stream.on('error', () => {});
  return (text) => {
    if (quiet || stream.destroyed) return;
    const line = safeLine(text);
    stream.write(`trdr: ${unicode ? line : asciiOnly(line)}\n`);
  };
}
