import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { wantsColor } from '../output/terminal/style.ts';
import { layoutPage } from './docs/layout.ts';

declare const __VERSION__: string;

/**
 * Starts the program. Version, help and completion are answered from files of the build; everything else
 * loads the parser and one command.
 */
export function start(): void {
  const argv = process.argv.slice(2);
  const ready = kept(argv);
  const outline = argv[0] === '__complete' ? readKept('.', 'complete.json') : undefined;
  // If the answer cannot be written, the program meets the same error and reports it.
  if (ready !== undefined) say(ready, () => runCommand(argv));
  else if (outline !== undefined) complete(argv.slice(1), outline);
  else runCommand(argv);
}

const runCommand = (argv: readonly string[]) =>
  void import('./process.ts').then(({ runProcess }) => runProcess(argv));

/** Answers a shell. It asks at every key press, so only what the answer needs is loaded. */
function complete(request: readonly string[], outline: string): void {
  const { env, platform } = process;
  void import('./docs/complete.ts')
    .then(({ answerShell }) =>
      answerShell(request, JSON.parse(outline), { env, platform, cwd: process.cwd() }),
    )
    .then(
      (answer) => say(answer, () => {}),
      () => {},
    );
}

/**
 * Writes the only text of a run directly to stdout, because opening a stream takes longer than the rest of
 * the run. A stream is used only if the reader is slow and stdout does not block.
 */
function say(text: string, failed: () => void): void {
  let rest: Uint8Array = Buffer.from(text);
  const fail = ({ code }: NodeJS.ErrnoException) => {
    // A reader that closed the pipe has read enough.
    if (code !== 'EPIPE') failed();
  };
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'EAGAIN') process.stdout.once('error', fail).write(rest);
    else fail(error);
  }
}

const scripts: Readonly<Record<string, string>> = {
  bash: 'trdr.bash',
  zsh: 'trdr.zsh',
  fish: 'trdr.fish',
  powershell: 'trdr.ps1',
};

/** The answer to a line that needs no more than a file of the build; undefined for all other lines. */
function kept(argv: readonly string[]): string | undefined {
  const [first = 'help', ...others] = argv;
  const last = argv.at(-1);
  if (argv.length === 1 && ['version', '--version', '-V', '-v'].includes(first)) return `${__VERSION__}\n`;
  if (last === '--help' || last === '-h') return keptHelp(argv.slice(0, -1));
  if (first === 'help') return keptHelp(others);
  const script = argv.length === 2 && first === 'completion' ? scripts[last ?? ''] : undefined;
  return script === undefined ? undefined : readKept('../completions', script);
}

function keptHelp(words: readonly string[]): string | undefined {
  if (!words.every((word) => /^[a-z-]+$/.test(word))) return undefined;
  const page = readKept('help', `${words.join('-') || 'trdr'}.json`);
  if (page === undefined) return undefined;
  const columns = terminalColumns();
  return layoutPage(JSON.parse(page), {
    columns: columns || 80,
    bold: wantsColor(undefined, process.env, columns !== undefined),
  });
}

/** The width of the terminal on stdout; undefined if stdout is not a terminal. Opens no stream for files and pipes. */
function terminalColumns(): number | undefined {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY ? process.stdout.columns : undefined;
}

function readKept(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(__dirname, folder, name), 'utf8');
  } catch {
    // A single executable has no files: the program answers, or reports what is wrong.
    return undefined;
  }
}
