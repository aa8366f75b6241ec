import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** CPU time including child processes, duration, and peak memory of any process. */
export interface Measured {
  readonly cpuMs: number;
  readonly ms: number;
  readonly mb: number;
}

/** Runs a bash script and measures it, including its child processes. */
export async function measure(
  script: string,
  env: Readonly<Record<string, string>>,
  folder: string,
): Promise<Measured> {
  const began = performance.now();
  const timed = `TIMEFORMAT='%U %S'; time { ${script}; } 2>"$DIR/stderr"`;
  const child = spawn('bash', ['-c', timed], {
    env: { PATH: process.env['PATH'] ?? '', DIR: folder, ...env },
  });
  let told = '';
  child.stderr.on('data', (part: Buffer) => {
    told += part.toString();
  });
  const peak = watchMemory(child);
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${script}: ${told}${readFileSync(join(folder, 'stderr'), 'utf8')}`);
  const [user = 0, system = 0] = told.trim().split(' ').map(Number);
  return { cpuMs: (user + system) * 1000, ms: performance.now() - began, mb: peak() };
}

/**
 * Watches the memory of a process and its children. The returned function ends this and returns the peak memory of any
 * of these processes in MB.
 */
function watchMemory({ pid }: ChildProcess): () => number {
  let most = 0;
  const look = (of: number | undefined) => {
    try {
      const status = readFileSync(`/proc/${of}/status`, 'utf8');
      most = Math.max(most, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      for (const next of readFileSync(`/proc/${of}/task/${of}/children`, 'utf8').split(' ')) {
        if (next !== '') look(Number(next));
      }
    } catch {
      // Ignore the error: the process has ended.
    }
  };
  const timer = setInterval(() => look(pid), 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}

export const median = (values: number[]) =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
