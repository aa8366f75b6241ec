import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupt, type Io, type TerminalInput } from '../io.ts';

/** The parts of the environment that a prompt needs. */
export type PromptIo = Pick<Io, 'stdin' | 'stdout' | 'stderr' | 'env' | 'terminal'>;

/** Whether a variable is set, and not to an empty value, 0, false, no or off. */
const isOn = (value: string | undefined) => value !== undefined && !/^(0|false|no|off)?$/i.test(value.trim());

const isPromptOff = (env: Io['env']) => isOn(env['TRDR_NO_PROMPT']) || isOn(env['CI']);

/** Whether stdin and stderr are terminals and prompts are allowed. */
export const isAttended = ({ stdin, stderr, env }: Pick<Io, 'stdin' | 'stderr' | 'env'>): boolean =>
  !isPromptOff(env) && stdin.isTTY === true && stderr.isTTY === true;

/**
 * Whether a question can be asked: stderr must be a terminal. Stdin may be a pipe if the session has a terminal
 * that can be opened.
 */
export const canAsk = (io: PromptIo): boolean =>
  isAttended(io) || (!isPromptOff(io.env) && io.stderr.isTTY === true && io.terminal?.exists() === true);

/** The input for answers: stdin, or the terminal itself if stdin or stdout is redirected. */
function openInput({ stdin, stdout, terminal }: PromptIo): TerminalInput & { readonly close: () => void } {
  const isWhole = stdin.isTTY === true && stdout.isTTY === true;
  const input = !isWhole && terminal?.exists() ? terminal.open() : undefined;
  // Do not close stdin, because the command may read from it.
  return Object.assign(input ?? stdin, { close: () => void input?.destroy() });
}

/**
 * Prompts for a line on the terminal. Returns undefined if the user closes the input. With `hidden`, the
 * input is not shown. Ctrl-C ends the run as usual.
 */
export function askLine(
  io: PromptIo,
  question: string,
  { hidden = false, signal }: { readonly hidden?: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  signal.throwIfAborted();
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const input = openInput(io);
  return new Promise((resolve, reject) => {
    if (hidden) io.stderr.write(question);
    const lines = createInterface({
      input,
      output: hidden ? silence : io.stderr,
      // Set the terminal to raw mode, in which it does not echo the input, until `lines` is closed.
      terminal: true,
      historySize: 0,
      prompt: hidden ? '' : question,
    });
    const finish = (settle: () => void) => {
      signal.removeEventListener('abort', abort);
      lines.off('close', onClose);
      lines.close();
      input.close();
      if (hidden) io.stderr.write('\n');
      settle();
    };
    const abort = () => {
      if (!hidden) io.stderr.write('\n');
      finish(() => reject(signal.reason));
    };
    const onClose = () => {
      if (!hidden) io.stderr.write('\n');
      finish(() => resolve(undefined));
    };
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
