import { execa } from 'execa';
import { TestRunner } from 'vitest';
import { has } from '../tools.ts';
import { openHome, programEnv, type RunOptions } from './harness.ts';
import { program } from './program.ts';

/** Runs a line of bash in which `trdr` is the built program; `codes` are those of the last pipeline. */
export async function bash(line: string, options: RunOptions = {}) {
  if (!has('bash')) TestRunner.getCurrentTest()?.context.skip('needs bash');
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
