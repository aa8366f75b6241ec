import { usageError } from '../base/failure.ts';
import { createSink, outputClosed } from '../output/sink.ts';
import { findCommand, parseWords } from './args/parse.ts';
import type { ExitCode } from './exit.ts';
import { Interrupt, type Io, type RunEnd } from './io.ts';
import { reportFailure } from './report-failure.ts';
import type { RunSettings } from './settings/settings.ts';
import { tree } from './tree.ts';

/** Runs one command line. Returns its exit code. */
export async function run(io: Io): Promise<number> {
  const end = await runToEnd(io);
  for (const notify of io.atEnd) await notify(end);
  let { exit } = end;
  for (const act of io.atExit) {
    io.atExit.delete(act);
    try {
      act(exit);
    } catch (error) {
      const failed = await reportFailure(io, error);
      exit ||= failed.exit;
    }
  }
  return exit;
}

async function runToEnd(io: Io): Promise<RunEnd> {
  let settings: RunSettings | undefined;
  const interrupt = () => (io.signal.reason instanceof Interrupt ? io.signal.reason : undefined);
  try {
    const code = await dispatch(io, (settled) => {
      settings = settled;
    });
    return interrupt() ?? { exit: code, reason: 'done' };
  } catch (error) {
    const interrupted = interrupt();
    if (interrupted) return interrupted;
    if (error instanceof Interrupt) return error;
    if (error === outputClosed) return { exit: 0, reason: 'done' };
    return await reportFailure(io, error, settings);
  }
}

async function dispatch(io: Io, onSettings: (settings: RunSettings) => void): Promise<ExitCode> {
  if (io.argv[0] === '__complete') return await completeSlowly(io);
  const { path, rest, wantsHelp } = findCommand(io.argv, Object.keys(tree));
  const load = tree[path];
  if (load === undefined || wantsHelp) return await showHelp(io, path, wantsHelp);
  const command = await load();
  const parsed = parseWords(command, rest, io.cwd);
  if (command.savesSettings && parsed.globals.sandbox) {
    throw usageError(
      `"trdr ${path}" changes saved settings, so it cannot be combined with --sandbox`,
      'remove --sandbox',
    );
  }
  const { files, globals } = parsed;
  if (files.length > 0) (await import('./args/check-files.ts')).checkFiles(files, globals.out, io);
  const input = command.parse(parsed.args, parsed.given as never);
  const { openRun } = await import('./run/open-run.ts');
  const opened = await openRun(io, command, parsed);
  onSettings(opened.settings);
  return await opened.run(input);
}

/** Throws if the user did not ask for help, but wrote a command line without a complete command. */
async function showHelp(io: Io, path: string, asked: boolean): Promise<ExitCode> {
  const [first] = io.argv;
  if (!asked && path !== '') {
    throw usageError(
      `"trdr ${path}" requires a subcommand: ${subcommands(path).join(', ')}`,
      `see trdr ${path} --help`,
    );
  }
  if (!asked && first !== undefined) {
    throw usageError(`no command given, only ${first.split('=')[0]}`, 'see trdr --help');
  }
  await (await import('./docs/help.ts')).showPage(io, path === '' ? [] : path.split(' '));
  return 0;
}

const subcommands = (group: string) =>
  Object.keys(tree)
    .filter((path) => path.startsWith(`${group} `))
    .map((path) => path.slice(group.length + 1));

/** Answers a completion request if the program is a single executable, which has no prebuilt files. */
async function completeSlowly(io: Io): Promise<ExitCode> {
  const [{ answerShell }, { preparedTexts }] = await Promise.all([
    import('./docs/complete.ts'),
    import('./docs/manual.ts'),
  ]);
  const { outline } = await preparedTexts();
  const sink = createSink(io.stdout, { name: 'stdout' });
  await sink.write(answerShell(io.argv.slice(1), JSON.parse(outline), io));
  await sink.finish('complete');
  return 0;
}
