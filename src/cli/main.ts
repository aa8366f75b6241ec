import { fstatSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import { wantsColor } from '../output/terminal/style.ts';
import { withoutBold } from './docs/bold.ts';
import { completionFiles } from './docs/completion/file-names.ts';

declare const __VERSION__: string;

/**
 * Prints version, help and completion from prebuilt text. For all other command lines, loads the
 * parser and one command.
 */
export function start(): void {
  const argv = process.argv.slice(2);
  const ready = prebuilt(argv);
  const outline = argv[0] === '__complete' ? readPrebuilt('.', 'complete.json') : undefined;
  // If the text cannot be written, run the whole program, which reports the same error.
  if (ready !== undefined) writeText(ready, () => runCommand(argv));
  else if (outline !== undefined) complete(argv.slice(1), outline);
  else runCommand(argv);
}

const runCommand = (argv: readonly string[]) =>
  void import('./process.ts').then(({ runProcess }) => runProcess(argv));

/** A shell sends a request at every press of the tab key, so only the required code is loaded. */
function complete(request: readonly string[], outline: string): void {
  const { env, platform } = process;
  void import('./docs/complete.ts')
    .then(({ answerShell }) =>
      answerShell(request, JSON.parse(outline), { env, platform, cwd: process.cwd() }),
    )
    .then(
      (answer) => writeText(answer, () => {}),
      () => {},
    );
}

/**
 * Writes to the descriptor, because opening a stream takes longer than the rest of the run. A
 * stream waits for slow readers.
 */
function writeText(text: string, failed: () => void): void {
  let rest: Uint8Array = Buffer.from(text);
  const fail = ({ code }: NodeJS.ErrnoException) => {
    // EPIPE means that the reader has closed the pipe and does not need the rest.
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

/** The widths of the help texts that the build writes. */
const PREBUILT_COLUMNS = 80;
const WIDE_COLUMNS = 100;

const scripts: Readonly<Record<string, string>> = completionFiles;

/** The prebuilt output of a command line; undefined if there is none. */
function prebuilt(argv: readonly string[]): string | undefined {
  const [first = '-h', ...others] = argv;
  const last = argv.at(-1) ?? first;
  if (argv.length === 1 && ['version', '--version', '-V', '-v'].includes(first))
    return `${__VERSION__}\n`;
  if (argv.length === 1 && first === 'skill') return readPrebuilt('.', 'skill.md');
  if (last === '-h') return prebuiltHelp(argv.slice(0, -1), '.brief.txt');
  if (last === '--help') return prebuiltHelp(argv.slice(0, -1), '.txt');
  if (first === 'help') return prebuiltHelp(others, '.txt');
  const script = argv.length === 2 && first === 'completion' ? scripts[last] : undefined;
  return script === undefined ? undefined : readPrebuilt('../completions', script);
}

/**
 * Undefined on a terminal that is narrower than the prebuilt text, or has fewer lines: the program
 * may use a pager.
 */
function prebuiltHelp(words: readonly string[], ending: string): string | undefined {
  if (!words.every((word) => /^[a-z-]+$/.test(word))) return undefined;
  const columns = terminalColumns();
  if (columns !== undefined && columns < PREBUILT_COLUMNS) return undefined;
  const isWide = columns !== undefined && columns >= WIDE_COLUMNS;
  const name = `${words.join('-') || 'trdr'}${ending}`;
  const text = readPrebuilt('help', isWide ? name.replace(/txt$/, 'wide.txt') : name);
  if (text === undefined) return undefined;
  if (columns !== undefined && text.split('\n').length > process.stdout.rows) return undefined;
  const isBold = wantsColor(undefined, process.env, columns !== undefined);
  return isBold ? text : withoutBold(text);
}

/**
 * Undefined if stdout is not a terminal. Checks the descriptor first, because opening
 * `process.stdout` takes longer.
 */
function terminalColumns(): number | undefined {
  return fstatSync(1).isCharacterDevice() && process.stdout.isTTY
    ? process.stdout.columns || undefined
    : undefined;
}

/**
 * An unknown command has no page, and a single executable has no prebuilt files at all: the program
 * runs instead.
 */
const readPrebuilt = (folder: string, name: string): string | undefined =>
  quietly(() => readFileSync(join(__dirname, folder, name), 'utf8'));
