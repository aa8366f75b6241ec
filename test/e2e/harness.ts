import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { onTestFailed, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { openFolder } from '../folder.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/service.ts';
import { type InProcessOptions, runInProcess } from './in-process.ts';
import { compiledCode, program } from './program.ts';
import { checkSchema } from './schema-check.ts';
import { worldAt } from './world.ts';

export { runInProcess };

/** What moves the clock of a started program as that of the tests is moved. */
export const shiftedClock = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['CLOCK_SHIFT', 'NODE_OPTIONS'].map((name) => [name, process.env[name] ?? '']),
  );

const COMPILE_CACHE = 'NODE_DISABLE_COMPILE_CACHE';

/** A temporary home directory with all files of trdr. */
export interface Home {
  readonly path: string;
  readonly config: string;
  readonly state: string;
  readonly cache: string;
  readonly env: Readonly<Record<string, string>>;
  /** The path of a file in it. */
  at(...names: readonly string[]): string;
  read(name: string): string;
  /** Writes a file, of records one a line, and returns its path. */
  write(name: string, content: string | Uint8Array | readonly object[]): string;
  run(words: CommandLine, options?: InProcessOptions): ReturnType<typeof runInProcess>;
}

/** Creates a home for a test and removes it afterwards. */
export function openHome(): Home {
  const path = openFolder();
  const [config, state, cache] = [join(path, 'config'), join(path, 'state'), join(path, 'cache')];
  const home: Home = {
    path,
    config,
    state,
    cache,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: path,
      ...shiftedClock(),
      TRDR_CONFIG_DIR: config,
      TRDR_STATE_DIR: state,
      TRDR_CACHE_DIR: cache,
      // Compiled code of one home would be used only a few times; `programEnv` shares it between homes.
      [COMPILE_CACHE]: '1',
    },
    at: (...names) => join(path, ...names),
    read: (name) => readFileSync(join(path, name), 'utf8'),
    write(name, content) {
      const file = join(path, name);
      const isText = typeof content === 'string' || content instanceof Uint8Array;
      writeFileSync(file, isText ? content : linesOf(content));
      return file;
    },
    run: (words, options) => runInProcess(words, { home, ...options }),
  };
  return home;
}

export interface RunOptions {
  /** The service for TRDR_BASE_URL and TRDR_API_KEY. */
  readonly sandbox?: Pick<Sandbox, 'url' | 'key'> | undefined;
  /** A key instead of the sandbox's; null for none. */
  readonly key?: string | null | undefined;
  /** Variables in addition to PATH, HOME and the folders of trdr; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly input?: string | Uint8Array | undefined;
  readonly cwd?: string | undefined;
  /** The home of the run, which several runs can share; default: a new home. */
  readonly home?: Home | undefined;
}

export type Ran = ReturnType<typeof ranOf>;

export function envOf({
  sandbox,
  key,
  env,
  home = openHome(),
}: RunOptions): Record<string, string> {
  const given = {
    ...home.env,
    ...(sandbox && { TRDR_BASE_URL: sandbox.url }),
    ...(key !== null && (key ?? sandbox) && { TRDR_API_KEY: key ?? sandbox?.key }),
    ...env,
  };
  return Object.fromEntries(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/**
 * The environment of a start of the built program. All homes share the code that the program compiled, because compiling takes a
 * third of a short run. A test that sets NODE_DISABLE_COMPILE_CACHE or another cache folder is not affected.
 */
export function programEnv(options: RunOptions & { readonly home: Home }): Record<string, string> {
  const env = envOf(options);
  const { cache } = options.home;
  if (Object.hasOwn(options.env ?? {}, COMPILE_CACHE) || env['TRDR_CACHE_DIR'] !== cache)
    return env;
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 });
    const code = join(cache, 'code');
    if (!existsSync(code)) symlinkSync(compiledCode, code);
  } catch {
    // The test has replaced the cache folder, or another run has just created the link.
    return env;
  }
  const { [COMPILE_CACHE]: _, ...rest } = env;
  return rest;
}

/** Runs the built program to its end. */
export async function trdr(words: CommandLine, options: RunOptions = {}): Promise<Ran> {
  const args = wordsOf(words);
  const home = options.home ?? openHome();
  const { stdout, stderr, exitCode, signal } = await execa(process.execPath, [program, ...args], {
    env: programEnv({ ...options, home }),
    extendEnv: false,
    cwd: options.cwd ?? home.path,
    reject: false,
    stripFinalNewline: false,
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
  });
  if (exitCode === undefined) throw new Error(`trdr was ended by ${signal}: ${stderr}`);
  await checkSchema(args, stdout, stderr);
  return ranOf(stdout, stderr, exitCode);
}

/** Starts the built program, for streams and signals. */
export function startTrdr(words: CommandLine, options: RunOptions = {}) {
  const args = wordsOf(words);
  const home = options.home ?? openHome();
  const child = execa(process.execPath, [program, ...args], {
    env: programEnv({ ...options, home }),
    extendEnv: false,
    cwd: options.cwd ?? home.path,
    reject: false,
    stripFinalNewline: false,
    stdin: 'pipe',
    // By default, execa ends a program that has printed 100 MB.
    maxBuffer: Number.POSITIVE_INFINITY,
    // On a busy machine, an orderly shutdown takes long.
    forceKillAfterDelay: false,
  });
  let err = '';
  child.stderr.on('data', (part: Buffer) => {
    err = (err + part.toString()).slice(-4_000);
  });
  onTestFailed(() => void process.stderr.write(`stderr of trdr ${args.join(' ')}:\n${err}\n`));
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export function ranOf(stdout: string, stderr: string, exitCode: number) {
  const lines = () => stdout.split('\n').filter((line) => line !== '');
  return {
    ...{ stdout, stderr, exitCode, lines },
    /** Stderr in one line, however it was wrapped. */
    said: stderr.replace(/\s+/g, ' '),
    json: (): unknown => JSON.parse(withoutReading(stdout)),
    /** Without what differs from run to run: when and how trdr read the record of a subject. */
    records: () => lines().map((line): Record<string, unknown> => JSON.parse(withoutReading(line))),
    /** The error in the JSON line on stderr. */
    error(): Record<string, unknown> {
      const line = stderr.split('\n').find((each) => each.startsWith('{"error":'));
      if (line === undefined) throw new Error(`no error on stderr: ${stderr}`);
      const { error } = JSON.parse(line);
      if (error.exit !== exitCode) throw new Error(`exit code ${exitCode}, but: ${line}`);
      return error;
    },
  };
}

/** Records as a file of NDJSON has them. */
export const linesOf = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** The records of such a file. */
export const recordsIn = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Two runs that print the same records differ in when and how they read them. */
export const withoutReading = (text: string): string =>
  text
    .replace(/,\s*"readAt":\s*-?\d+,\s*"via":\s*"[a-z]+"/g, '')
    .replace(/,asOf,readAt,via(?=,|$)/gm, '')
    .replace(/,,\d{13},(?:service|cache)(?=,|$)/gm, '');

/** The words of a command line, as a text in which only single quotes count, or one by one. */
export type CommandLine = string | readonly string[];

export const wordsOf = (line: CommandLine): readonly string[] =>
  typeof line === 'string'
    ? [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    : line;

/** The words of a command line in which a value is a part of one word, whatever it has, and a list is several words. */
export function argv(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | readonly string[])[]
): string[] {
  const words: string[] = [''];
  const append = (text: string) => words.push(`${words.pop()}${text}`);
  for (const [at, text] of texts.entries()) {
    const [first = '', ...others] = text.split(' ');
    append(first);
    words.push(...others);
    const value = values[at] ?? '';
    if (typeof value === 'object') words.splice(-1, 1, ...value);
    else append(String(value));
  }
  return words;
}

/** Starts the embedded service for a test and closes it afterwards. */
export async function withSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { now = Date.now(), clock, seed = 1, data } = options;
  const world =
    data === undefined ? { world: worldAt(clock?.now() ?? now, seed, options) } : undefined;
  const sandbox = await startSandbox({ now, ...world, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

/** A clock that is ahead by so many ms. */
export const ahead = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

/** All theses of a service, newest first. */
export const thesesOf = ({ world, clock }: Pick<Sandbox, 'world' | 'clock'>) =>
  world.theses().slice(undefined, 1_000_000, clock.now())?.items ?? [];

/** All callouts of a service, newest first. */
export const calloutsOf = ({ world, clock }: Pick<Sandbox, 'world' | 'clock'>) =>
  world.callouts().slice(undefined, 1_000_000, clock.now())?.items ?? [];

/** A service, a home, and the program in both. */
export const openDesk = async (options: SandboxOptions = {}) => deskOf(await withSandbox(options));

/** A home, and the program in it, for a service. */
export function deskOf<S extends Pick<Sandbox, 'url' | 'key'>>(sandbox: S) {
  const home = openHome();
  const run = (words: CommandLine, more: InProcessOptions = {}) =>
    home.run(words, { sandbox, ...more });
  return { sandbox, home, run };
}
