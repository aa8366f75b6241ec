import type { Writable } from 'node:stream';
import { childEnv } from '../../core/client/child-env.ts';
import { createSink, type Sink } from '../../output/sink.ts';
import type { Io } from '../io.ts';
import { isPromptOff } from '../prompt.ts';

/** Where no less is installed, the text is printed as it is. */
const LESS = 'command -v less >/dev/null || exec cat; exec less -FRX';

/**
 * A pager that fails before it has read the first line leaves its input to cat, so that nothing is
 * lost that was paid for. Ctrl-C is for the pager: the shells above it live on.
 */
const SCRIPT = `trap : INT
/bin/sh -c "$1"
code=$?
[ $code -ne 0 ] && IFS= read -r first && [ "$first" = "$2" ] || exit $code
printf '%s\\n' "$first"
exec cat`;

/** A longer first line would not fit into an argument; whether it was read is then not known. */
const LONGEST_FIRST_LINE = 10_000;

const LF = 10;

/** The terminal is the pager's as long as this function runs. */
type Lend = (use: () => Promise<void>) => Promise<void>;

/**
 * A sink for text that a pager shows if it is longer than the screen. Undefined where nobody would
 * use a pager: in pipes, in CI, under an agent, on a terminal that cannot move its cursor, or with
 * an empty TRDR_PAGER.
 */
export function pagerSink(io: Io, lend: Lend = (use) => use()): Sink | undefined {
  const { stdout, env, platform } = io;
  if (stdout.isTTY !== true || !stdout.rows || platform === 'win32') return undefined;
  if (env['TERM'] === 'dumb' || isPromptOff(env)) return undefined;
  const line = (env['TRDR_PAGER'] ?? env['PAGER'] ?? LESS).trim();
  if (line === '' || line === 'cat') return undefined;
  const pager = new Pager(io, line, lend, () => sink.fail(readerLeft));
  const sink = createSink((bytes) => pager.write(bytes), {
    name: 'stdout',
    // Rows appear as they come, as without a pager.
    live: true,
    end: () => pager.end(),
  });
  return sink;
}

const readerLeft = Object.assign(new Error('the pager was closed'), { code: 'EPIPE' });

/** Keeps text until it is longer than the screen, and passes it to a pager from then on. */
class Pager {
  readonly #io: Io;
  readonly #line: string;
  readonly #lend: Lend;
  readonly #onClosed: () => void;
  #kept: Uint8Array[] = [];
  #lines = 0;
  #input: Writable | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(io: Io, line: string, lend: Lend, onClosed: () => void) {
    this.#io = io;
    this.#line = line;
    this.#lend = lend;
    this.#onClosed = onClosed;
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#input) return await writeTo(this.#input, bytes);
    this.#kept.push(bytes);
    for (const byte of bytes) if (byte === LF) this.#lines++;
    if (this.#lines < (this.#io.stdout.rows ?? 0)) return;
    const [first = ''] = Buffer.concat(this.#kept).toString().split('\n', 1);
    this.#input = await this.#open(first.slice(0, LONGEST_FIRST_LINE));
    await this.#writeKept(this.#input);
  }

  /** Prints what fits on the screen; otherwise waits until the reader leaves the pager. */
  async end(): Promise<void> {
    const { stdout, paging } = this.#io;
    if (!this.#input) return await this.#writeKept(stdout);
    paging.state = 'filled';
    this.#input.end();
    await this.#ended;
  }

  async #writeKept(stream: Writable): Promise<void> {
    const kept = Buffer.concat(this.#kept);
    this.#kept = [];
    if (kept.length > 0) await writeTo(stream, kept);
  }

  async #open(firstLine: string): Promise<Writable> {
    const { env, cwd, paging } = this.#io;
    const { execa } = await import('execa');
    const child = execa('/bin/sh', ['-c', SCRIPT, 'sh', this.#line, firstLine], {
      cwd,
      env: childEnv(env),
      extendEnv: false,
      stdin: 'pipe',
      stdout: 'inherit',
      stderr: 'inherit',
      cleanup: false,
      reject: false,
    });
    // A reader who leaves early has seen enough: `write` reports it as a closed pipe.
    child.stdin.on('error', () => {});
    paging.state = 'filling';
    this.#ended = this.#lend(async () => {
      await child;
      if (paging.state === 'filling') this.#onClosed();
    });
    return child.stdin;
  }
}

const writeTo = (stream: Writable, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
