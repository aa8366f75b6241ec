import { PassThrough } from 'node:stream';
import type { ExitCode } from '../../src/cli/exit.ts';
import type { Io } from '../../src/cli/io.ts';
import { readLine } from '../../src/cli/program/read-line.ts';
import type { Context } from '../../src/cli/run/context.ts';
import { type CommandJob, runJob } from '../../src/cli/run/job.ts';
import { openRun } from '../../src/cli/run/open-run.ts';
import { createInFlight } from '../../src/core/client/in-flight.ts';
import { type Estimate, type Planned, totalOf } from '../../src/core/spend/plan.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { envOf, openHome, type RunOptions } from '../e2e/harness.ts';

interface JobOptions extends Pick<RunOptions, 'sandbox' | 'home' | 'env'> {
  /** The complete stdin. */
  readonly stdin?: string;
}

/** What a job was, and what became of it. */
interface JobRun {
  /** The planned calls, before anything was sent. */
  readonly calls: readonly Planned[];
  readonly cost: Estimate;
  /** The sentence of the question. */
  readonly question: string;
  readonly isOpen: boolean;
  readonly exit: ExitCode | undefined;
  readonly failure: unknown;
  readonly stdout: string;
  readonly stderr: string;
  /** The lines of stdout, as records. */
  records(): Record<string, unknown>[];
  /** What the bill says of the result. */
  readonly outcome: string | null | undefined;
}

/**
 * Builds a job for the run of a command line, and runs it. The line gives the settings and the flags that commands
 * share; what the job is asked to do is an argument of `build`, so that each builder is tested without its command.
 */
export async function runJobOf(
  line: string,
  build: (context: Context) => CommandJob | Promise<CommandJob>,
  { sandbox, home = openHome(), env, stdin = '' }: JobOptions = {},
): Promise<JobRun> {
  const [stdout, stderr] = [collect(), collect()];
  const io = ioOf(line.split(' '), envOf({ sandbox, home, env }), home.path, stdin, {
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  const parsed = await readLine(io.argv, io.cwd);
  if (!('command' in parsed)) throw new Error('the line asks for help');
  const { path, options } = parsed.command;
  let job: CommandJob | undefined;
  let outcome: string | null | undefined;
  const command = {
    path,
    options,
    async run(context: Context) {
      job = await build(context);
      try {
        return await runJob(job, context);
      } finally {
        outcome = context.bill.outcome?.text;
      }
    },
  };
  let exit: ExitCode | undefined;
  let failure: unknown;
  try {
    exit = await (await openRun(io, command, parsed.parsed)).run(undefined);
  } catch (error) {
    failure = error;
  }
  await new Promise((resolve) => setImmediate(resolve));
  const calls = [...(job?.plan.calls ?? [])];
  return {
    calls,
    cost: totalOf(calls),
    question: job?.plan.costs('N CU') ?? '',
    isOpen: job?.plan.isOpen === true,
    exit,
    failure,
    stdout: stdout.text(),
    stderr: stderr.text().replace(/\s+/g, ' '),
    records: () =>
      stdout
        .text()
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text)),
    outcome,
  };
}

function collect() {
  const stream = new PassThrough();
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}

function ioOf(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  text: string,
  streams: Pick<Io, 'stdout' | 'stderr'>,
): Io {
  const stdin = new PassThrough();
  stdin.end(text);
  return {
    ...streams,
    argv,
    env,
    stdin,
    cwd,
    platform: process.platform,
    clock: virtualClock(Date.now()),
    random: Math.random,
    signal: new AbortController().signal,
    paging: { state: 'off' },
    onReopen: () => () => {},
    inFlight: createInFlight(),
    atEnd: new Set(),
    atExit: new Set(),
  };
}
