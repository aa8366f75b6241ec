import { Failure, usageError } from '../base/failure.ts';
import { createSink, outputClosed } from '../output/sink.ts';
import { parseWords } from './args/parse.ts';
import { findCommand } from './args/route.ts';
import type { AnyCommand } from './command.ts';
import type { ExitCode } from './exit.ts';
import { Interrupt, type Io } from './io.ts';
import { createReport } from './report.ts';
import type { RunSettings } from './settings/settings.ts';
import { groups, tree } from './tree.ts';
import { version } from './version.ts';

/** Runs one command line to its exit code. The only place where failures become words and codes. */
export async function run(io: Io): Promise<number> {
  const report = createReport(io);
  let settings: RunSettings | undefined;
  try {
    return await dispatch(io, (settled) => {
      settings = settled;
    });
  } catch (error) {
    if (io.signal.aborted && io.signal.reason instanceof Interrupt) return io.signal.reason.exit;
    if (error instanceof Interrupt) return error.exit;
    // The reader has what it wanted: that is an end, no failure.
    if (error === outputClosed) return 0;
    return await report(error, settings);
  }
}

async function dispatch(io: Io, onSettings: (settings: RunSettings) => void): Promise<ExitCode> {
  const { path, rest, wantsHelp } = findCommand(io.argv, Object.keys(tree));
  const load = tree[path];
  if (path === '' && isVersion(io.argv[0]) && !wantsHelp) return await show(io, `${version}\n`);
  if (load === undefined || wantsHelp) return await showHelp(io, path);
  const command = await load();
  const parsed = parseWords(command, rest);
  const input = command.parse(parsed.args, parsed.given as never);
  const { createContext } = await import('./create-context.ts');
  const context = await createContext(io, command, parsed);
  onSettings(context.settings);
  try {
    return (await command.run(context, input as never)) ?? 0;
  } finally {
    await context.close();
  }
}

/** Help for the whole, a group or a command. A line that names no command at all gets help on stderr. */
async function showHelp(io: Io, path: string): Promise<ExitCode> {
  const { commandHelp, groupHelp, rootHelp } = await import('./docs/help.ts');
  const load = tree[path];
  const text = async () => {
    if (load !== undefined) return commandHelp(await load());
    const all: AnyCommand[] = await Promise.all(Object.values(tree).map((each) => each()));
    return groups().includes(path) ? groupHelp(path, all) : rootHelp(all);
  };
  const asked = io.argv.some((word) => word === '--help' || word === '-h');
  const [first] = io.argv;
  if (path === '' && first !== undefined && !asked) {
    throw usageError(`no command given with ${first.split('=')[0]}`, 'see trdr --help');
  }
  const shown = await text();
  if (path !== '' && load === undefined && !asked) {
    throw new Failure('usage', `"trdr ${path}" requires a subcommand: ${subcommands(path).join(', ')}`, {
      code: 'USAGE',
      hint: `see trdr ${path} --help`,
    });
  }
  return await show(io, shown);
}

/** The last words of the commands of a group. */
const subcommands = (group: string) =>
  Object.keys(tree)
    .filter((path) => path.startsWith(`${group} `))
    .map((path) => path.slice(group.length + 1));

const isVersion = (word: string | undefined): boolean => word === '--version' || word === '-V';

async function show(io: Io, text: string): Promise<ExitCode> {
  const sink = createSink(io.stdout, { name: 'stdout' });
  await sink.write(text);
  await sink.end();
  return 0;
}
