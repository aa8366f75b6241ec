import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type Approval, Failure, type Hint, messageAndHint } from '../base/failure.ts';
import { safeLine, safeText } from '../output/terminal/safe-text.ts';
import { agentOf, isOn } from './agent.ts';
import { Interrupt, type Io, type TerminalInput } from './io.ts';

type PromptIo = Pick<Io, 'stdin' | 'stdout' | 'stderr' | 'env' | 'terminal'>;

/** An agent is never asked, even on a terminal, because only a person can agree to a cost. */
export const isPromptOff = (env: Io['env']) =>
  isOn(env['TRDR_NO_PROMPT']) || isOn(env['CI']) || agentOf(env) !== undefined;

/** Whether stdin and stderr are terminals and prompts are allowed. */
export const isAttended = ({ stdin, stderr, env }: Pick<Io, 'stdin' | 'stderr' | 'env'>): boolean =>
  !isPromptOff(env) && stdin.isTTY === true && stderr.isTTY === true;

/** Stdin may be a pipe if the session has a terminal that can be opened. */
export const canAsk = (io: PromptIo): boolean =>
  isAttended(io) ||
  (!isPromptOff(io.env) && io.stderr.isTTY === true && io.terminal?.exists() === true);

/** The input for answers: stdin, or the terminal itself if stdin or stdout is redirected. */
function openInput({
  stdin,
  stdout,
  terminal,
}: PromptIo): TerminalInput & { readonly close: () => void } {
  const isWhole = stdin.isTTY === true && stdout.isTTY === true;
  const input = !isWhole && terminal?.exists() ? terminal.open() : undefined;
  // Do not close stdin, because the command may read from it.
  return Object.assign(input ?? stdin, { close: () => void input?.destroy() });
}

/**
 * Undefined if the user closes the input. With `hidden`, it is not shown. Ctrl-C ends the run as
 * usual.
 */
export async function askLine(
  io: PromptIo,
  question: string,
  { hidden = false, signal }: { readonly hidden?: boolean; readonly signal: AbortSignal },
): Promise<string | undefined> {
  signal.throwIfAborted();
  const input = openInput(io);
  // Stop the echo before the question appears, because a script may answer it at once.
  input.setRawMode?.(true);
  const prompt = `${await wrapped(io, question)} `;
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  await discardTyped(input);
  return await new Promise((resolve, reject) => {
    const lines = createInterface({
      input,
      output: hidden ? silence : io.stderr,
      // Keep the terminal in raw mode until `lines` is closed.
      terminal: true,
      historySize: 0,
      prompt: hidden ? '' : prompt,
    });
    const finish = (settle: () => void, isEntered = false) => {
      signal.removeEventListener('abort', abort);
      lines.off('close', onClose);
      lines.close();
      input.close();
      // The line break of a visible answer is shown with the answer.
      if (hidden || !isEntered) io.stderr.write('\n');
      settle();
    };
    const abort = () => finish(() => reject(signal.reason));
    const onClose = () => finish(() => resolve(undefined));
    signal.addEventListener('abort', abort, { once: true });
    lines.once('close', onClose);
    lines.once('SIGINT', () => finish(() => reject(new Interrupt('SIGINT'))));
    lines.once('line', (text) => finish(() => resolve(text), true));
    if (signal.aborted) abort();
    else if (input.readableEnded) onClose();
    else if (hidden) io.stderr.write(prompt);
    else lines.prompt();
  });
}

export async function confirm(
  io: PromptIo,
  question: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!canAsk(io)) return undefined;
  return /^\s*y(es)?\s*$/i.test(
    (await askLine(io, `${safeLine(question)} [y/N]`, { signal })) ?? '',
  );
}

/** Asks, and throws if the user declines, or if the run is not interactive (`alone`). */
export async function agree(
  io: PromptIo,
  question: string,
  signal: AbortSignal,
  alone: {
    readonly message: string;
    readonly hint: string;
    readonly approval?: Approval | undefined;
  },
  declined: { readonly message: string; readonly hint?: Hint | undefined },
): Promise<void> {
  const answer = await confirm(io, question, signal);
  if (answer) return;
  if (answer === undefined)
    throw new Failure('confirm', alone.message, { code: 'CONFIRMATION_NEEDED', ...alone });
  const { message, hint } = declined;
  throw new Failure('confirm', message, { code: 'NOT_CONFIRMED', hint });
}

export async function showProblem(io: Pick<PromptIo, 'stderr'>, failure: Failure): Promise<void> {
  io.stderr.write(`${await wrapped(io, messageAndHint(failure))}\n`);
}

async function wrapped({ stderr }: Pick<PromptIo, 'stderr'>, text: string): Promise<string> {
  const { proseLines } = await import('../output/terminal/prose.ts');
  return proseLines('', safeText(text), { columns: stderr.columns || 80, utc: false }).join('\n');
}

/**
 * Asks for another URL after a failure that does not concern the secret, so that it need not be
 * typed again.
 */
export async function askUrlAgain(
  io: PromptIo,
  error: unknown,
  url: string,
  signal: AbortSignal,
): Promise<string> {
  if (!(error instanceof Failure) || !isAttended(io)) throw error;
  if (['auth', 'forbidden', 'local'].includes(error.kind) || error.code === 'STORE_DENIED')
    throw error;
  await showProblem(io, error);
  const typed = await askLine(io, `URL (press Enter to try ${url} again):`, { signal });
  if (typed === undefined) throw error;
  return typed.trim() || url;
}

/**
 * Discards what was typed before, as sudo and ssh do: it was meant for the shell, and must not
 * confirm a cost.
 */
async function discardTyped(input: TerminalInput): Promise<void> {
  const discard = () => {};
  input.on('data', discard);
  // The first callback may run before the event loop polls the terminal, the second runs after it.
  await setImmediate();
  await setImmediate();
  input.pause().off('data', discard);
}
