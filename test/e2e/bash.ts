import { execa } from 'execa';
import { openHome, programEnv, type RunOptions } from './harness.ts';
import { program } from './program.ts';

/** The result of a bash command line. */
export interface BashResult {
  readonly stdout: string;
  readonly stderr: string;
  /** The exit codes of the last pipeline. */
  readonly codes: readonly number[];
}

/** Runs a line of bash in which `trdr` is the built program: for pipes, redirections and limits. */
export async function bash(line: string, options: RunOptions = {}): Promise<BashResult> {
  const home = options.home ?? openHome();
  const script = `trdr() { "$NODE" "$PROGRAM" "$@"; }\n${line}\necho "\${PIPESTATUS[@]}" >&3`;
  const { stdout, stderr, stdio } = await execa('bash', ['-c', script], {
    env: { ...programEnv({ ...options, home }), NODE: process.execPath, PROGRAM: program },
    extendEnv: false,
    cwd: options.cwd ?? home.path,
    reject: false,
    stripFinalNewline: false,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
    ...(options.input === undefined ? {} : { input: options.input }),
  });
  const codes = String(stdio[3]).trim().split(' ').map(Number);
  return { stdout, stderr, codes };
}
