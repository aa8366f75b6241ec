import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An account without limits, so that a benchmark measures only the program. */
export const me = {
  ratePerMinute: 1_000_000,
  usage: {
    ...{ period: '2026-01', unitsUsed: 0, unitsRemaining: null, additionalUnits: 0 },
    ...{ revealsUsed: 0, revealsRemaining: null },
  },
  entitlement: { unmetered: true, monthlyUnits: 0 },
};

/** The environment of a program whose files are all in one folder. NODE_EXTRA_CA_CERTS would slow down each start. */
export function envIn(folder: string, service?: { readonly url: string; readonly key?: string }) {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return {
    ...env,
    ...{ HOME: folder, TRDR_CONFIG_DIR: folder, TRDR_STATE_DIR: folder, TRDR_CACHE_DIR: folder },
    ...(service && {
      TRDR_BASE_URL: service.url,
      TRDR_API_KEY: service.key ?? 'bench_0123456789abcdef',
    }),
  };
}

export const print = (line: string) => void process.stdout.write(`${line}\n`);

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
  if (code !== 0)
    throw new Error(`${script}: ${told}${readFileSync(join(folder, 'stderr'), 'utf8')}`);
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

/** The value below which this share of the values is. */
export const quantile = (values: readonly number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** The quantiles of durations in milliseconds, as text. */
export const durations = (values: readonly number[], ...shares: readonly number[]) =>
  shares.map((share) => `p${share * 100} ${quantile(values, share).toFixed(2)} ms`).join(', ');
