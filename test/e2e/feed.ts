import { existsSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Sandbox } from '../sandbox/service.ts';
import { type Home, type RunOptions, startTrdr } from './harness.ts';
import { type InProcessOptions, type StartedRun, startInProcess } from './in-process.ts';

/** A service with a few posts, and without a limit that a test could reach. */
export const plenty = {
  unmetered: true,
  ratePerMinute: 600_000,
  burstPerSecond: 100_000,
  theses: 50,
} as const;

export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 100_000,
  everyMs = 5,
): Promise<void> {
  for (const end = Date.now() + timeoutMs; !(await condition()); await delay(everyMs)) {
    if (Date.now() > end) throw new Error(`timeout: ${condition}`);
  }
}

/** Publishes posts, a few at a time, and remembers all of them. */
export function startPosting(sandbox: Sandbox, everyMs: number, many: () => number = () => 1) {
  const ids: string[] = [];
  const post = (count: number) => {
    for (let i = 0; i < count; i++) ids.push(sandbox.post().id);
  };
  let timer: NodeJS.Timeout | undefined = setInterval(() => post(many()), everyMs);
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  onTestFinished(stop);
  return { ids, post, stop };
}

export const startTail = (args: readonly string[], options: InProcessOptions): StartedRun =>
  startInProcess(['thesis', 'tail', ...args], options);

/** Starts the built program, for tests that kill it or stop its reader. */
export function startTailProgram(
  args: readonly string[],
  options: RunOptions & { readonly home: Home },
) {
  const child = startTrdr(['thesis', 'tail', ...args], options);
  let err = '';
  child.stderr.on('data', (part: Buffer) => {
    err += part.toString();
  });
  return {
    child,
    get stderr() {
      return err;
    },
  };
}

export function gather(stdout: Readable): { readonly ids: string[] } {
  const ids: string[] = [];
  let rest = '';
  stdout.on('data', (part: Buffer) => {
    const text = rest + part.toString();
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    ids.push(...idsOf(text.slice(0, end)));
  });
  return { ids };
}

export const listening = (sandbox: Sandbox): number => sandbox.sockets.size;

export const readText = (path: string): string =>
  existsSync(path) ? readFileSync(path, 'utf8') : '';

export const idsOf = (text: string): string[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).id);

export function compare(wanted: readonly string[], got: readonly string[]) {
  const [want, have] = [new Set(wanted), new Set<string>()];
  const doubled = got.filter((id) => have.has(id) || !have.add(id));
  return {
    lost: wanted.filter((id) => !have.has(id)),
    doubled,
    foreign: got.filter((id) => !want.has(id)),
  };
}

export const asItShouldBe = { lost: [], doubled: [], foreign: [] };
