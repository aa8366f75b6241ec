import type { Writable } from 'node:stream';
import { asciiOnly, safeLine } from './terminal/safe-text.ts';

export interface NoticeOptions {
  /** Called for the first notice. */
  readonly stream: () => Writable;
  /** Suppresses all notices. */
  readonly quiet: boolean;
  readonly unicode: boolean;
}

/** Writes one-line notices to the user; a closed stderr is ignored. */
export function createNotices({ stream, quiet, unicode }: NoticeOptions): (text: string) => void {
  let out: Writable | undefined;
  return (text) => {
    if (quiet) return;
    out ??= stream().on('error', () => {});
    if (out.destroyed) return;
    const line = safeLine(text);
    out.write(`trdr: ${unicode ? line : asciiOnly(line)}\n`);
  };
}
