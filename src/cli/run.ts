import { usageError } from '../base/failure.ts';
import { createSink, outputClosed } from '../output/sink.ts';
import type { ExitCode } from './exit.ts';
import { Interrupt, type Io, type RunEnd } from './io.ts';
import { readLine } from './program/read-line.ts';
import { inTypedNames } from './program/typed-names.ts';
import { reportFailure } from './report-failure.ts';
import type { RunSettings } from './settings/settings.ts';

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
  const line = await readLine(io.argv, io.cwd);
  if ('helpFor' in line) {
    await (await import('./docs/help.ts')).showHelp(io, line.helpFor, line.isBrief);
    return 0;
  }
  const { command, parsed } = line;
  if (command.savesSettings && parsed.globals.sandbox) {
    throw usageError(
      `"trdr ${command.path}" changes saved settings, so it cannot be combined with --sandbox`,
      'remove --sandbox',
    );
  }
  const { files, globals } = parsed;
  if (files.length > 0) (await import('./args/check-files.ts')).checkFiles(files, globals.out, io);
  const input = inTypedNames(io.argv, Object.values(command.options), () =>
    command.parse(parsed.args, parsed.flags as never),
  );
  const { openRun } = await import('./run/open-run.ts');
  const opened = await openRun(io, command, parsed);
  onSettings(opened.settings);
  return await opened.run(input);
}

/**
 * Answers a completion request if the program is a single executable, which has no prebuilt files.
 */
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
