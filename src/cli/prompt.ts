import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupt, type Io } from './io.ts';

/** True where somebody is there to answer. */
export const isAttended = (io: Pick<Io, 'stdin' | 'stderr'>): boolean =>
  io.stdin.isTTY === true && io.stderr.isTTY === true;

/**
 * Prompts for a line on the terminal; undefined if the user closes the input. With `hidden`, the input is
 * never echoed. Ctrl-C ends the run as usual.
 */
export function askLine(
  io: Pick<Io, 'stdin' | 'stderr'>,
  question: string,
  { hidden = false, signal }: { readonly hidden?: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  signal.throwIfAborted();
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  return new Promise((resolve, reject) => {
    if (hidden) io.stderr.write(question);
    const lines = createInterface({
      input: io.stdin,
      output: hidden ? silence : io.stderr,
      // Raw mode: the terminal does not echo; closing restores its old mode.
      terminal: true,
      historySize: 0,
      prompt: hidden ? '' : question,
    });
    const finish = (settle: () => void) => {
      signal.removeEventListener('abort', abort);
      lines.off('close', onClose);
      lines.close();
      if (hidden) io.stderr.write('\n');
      settle();
    };
    const abort = () => finish(() => reject(signal.reason));
    const onClose = () => finish(() => resolve(undefined));
    signal.addEventListener('abort', abort, { once: true });
    lines.once('close', onClose);
    lines.once('SIGINT', () => {
      if (!hidden) io.stderr.write('\n');
      finish(() => reject(new Interrupt('SIGINT')));
    });
    lines.once('line', (text) => finish(() => resolve(text)));
    if (!hidden) lines.prompt();
  });
}
