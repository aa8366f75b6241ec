import { readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

declare const __VERSION__: string;

/**
 * Where the program begins. What can be answered from a file that the build made is answered from it;
 * everything else loads the parser and one command.
 */
export function start(): void {
  const argv = process.argv.slice(2);
  const ready = kept(argv);
  // What can't be written the long way meets as well, and says.
  if (ready !== undefined) say(ready, () => runCommand(argv));
  else if (argv[0] === '__complete') answerShell(argv.slice(1));
  else runCommand(argv);
}

const runCommand = (argv: readonly string[]) =>
  void import('./process.ts').then(({ runProcess }) => runProcess(argv));

/** Answers a shell's completion. It asks at every key press: only what the answer needs is loaded. */
function answerShell(words: readonly string[]): void {
  void import('./docs/complete.ts')
    .then(({ complete }) => complete(words, process.env, process.platform, process.cwd()))
    .then(
      (found) => say(found.map((name) => `${name}\n`).join(''), () => {}),
      () => {},
    );
}

/**
 * Writes the one text of a run straight to stdout: making a stream of it takes longer than all else. Where
 * the reader is slow and does not want to be waited for, a stream waits.
 */
function say(text: string, failed: () => void): void {
  let rest: Uint8Array = Buffer.from(text);
  const fail = ({ code }: NodeJS.ErrnoException) => {
    // The reader that left has what it wanted.
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

function kept(argv: readonly string[]): string | undefined {
  const [first = '--help'] = argv;
  if (argv.length <= 1 && (first === '--version' || first === '-V')) return `${__VERSION__}\n`;
  const last = argv.at(-1) ?? '--help';
  const words = argv.slice(0, -1);
  if ((last === '--help' || last === '-h') && words.every((word) => /^[a-z]+$/.test(word))) {
    return readKept('help', `${words.join('-') || 'trdr'}.txt`);
  }
  const script = argv.length === 2 && first === 'completion' ? scripts[last] : undefined;
  if (script !== undefined) return readKept('../completions', script);
  return undefined;
}

function readKept(folder: string, name: string): string | undefined {
  try {
    return readFileSync(join(__dirname, folder, name), 'utf8');
  } catch {
    // Not kept: the long way answers, or says what is wrong.
    return undefined;
  }
}
