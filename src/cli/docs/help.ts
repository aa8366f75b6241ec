import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { createSink, type Sink } from '../../output/sink.ts';
import { wantsColor } from '../../output/terminal/style.ts';
import type { AnyCommand } from '../command.ts';
import type { Io } from '../io.ts';
import { openTree, type Program } from '../program/program.ts';
import { colorMode } from '../report-failure.ts';
import { commandPaths, groupSummaries, groups, tree } from '../tree.ts';
import { withoutBold } from './bold.ts';
import { commandProse } from './command-prose.ts';
import { formatTopic, helpLayout } from './help-layout.ts';
import { type DocPage, isLeaf, type Leaf, pageFile } from './page.ts';
import { topics } from './topics.ts';

/** The maximum number of columns of a text, because longer lines are hard to read. */
const WIDEST = 100;
const NARROWEST = 24;
/** The number of columns of the texts that the build prepares. */
const PREPARED = 80;

const TAGLINE =
  'Look up traders by handle or wallet, compare their numbers, and follow the thesis feed live.';

interface HelpStyle {
  readonly columns: number;
  readonly isBrief: boolean;
}

export const allCommands = (): Promise<AnyCommand[]> =>
  Promise.all(Object.values(tree).map((load) => load()));

const plainStyle: HelpStyle = { columns: PREPARED, isBrief: false };

/** The program with every command loaded, for help and for everything that is generated from it. */
export async function wholeProgram(style: HelpStyle = plainStyle): Promise<Program> {
  const columns = Math.min(WIDEST, Math.max(NARROWEST, style.columns));
  const program = openTree(() => {});
  const configure = (node: Program): void => {
    node.configureHelp(helpLayout(style.isBrief));
    node.configureOutput({ getOutHelpWidth: () => columns, getOutHasColors: () => true });
  };
  const describe = async (node: Program): Promise<void> => {
    configure(node);
    if (node !== program) await node.load();
    if (isLeaf(node)) {
      const { summary, about } = commandProse(node.spec);
      node.summary(summary).description([`${summary}.`, ...about].join('\n\n'));
      return;
    }
    await Promise.all(node.commands.map(describe));
    if (node !== program) describeGroup(node);
  };
  await describe(program);
  return program.summary(TAGLINE.replace(/\.$/, '')).description(TAGLINE);
}

/** A group is described by its commands, and by the topic of the same name if there is one. */
function describeGroup(group: Program): void {
  const name = group.name();
  const summary = groupSummaries[name] ?? `Commands of ${name}`;
  const topic = topics.find((entry) => entry.name === name);
  const names = group.commands.map((command) => command.name()).join(', ');
  group.summary(`${summary}: ${names}`);
  group.description([`${summary}.`, ...(topic?.about ?? [])].join('\n\n'));
}

/** The commands below a program or a group, without the groups. */
export const leavesOf = (program: Program): Leaf[] =>
  isLeaf(program) ? [program] : program.commands.flatMap(leavesOf);

export const allLeaves = async (): Promise<Leaf[]> => leavesOf(await wholeProgram());

/** The program, group or command with these words. */
const programAt = (program: Program, words: readonly string[]): Program | undefined =>
  words.reduce<Program | undefined>(
    (group, word) => group?.commands.find((command) => command.name() === word),
    program,
  );

function topicText(program: Program, topic: DocPage): string {
  const helper = program.createHelp();
  helper.prepareContext({ helpWidth: program.configureOutput().getOutHelpWidth?.() ?? PREPARED });
  return formatTopic(topic, helper);
}

/** The help about some words, with bold titles. */
function helpText(program: Program, words: readonly string[]): string {
  const named = programAt(program, words);
  if (named) return named.helpInformation();
  const topic = topics.find(({ name }) => name === words.join('-'));
  if (topic) return topicText(program, topic);
  const name = words.join(' ');
  const names = [...commandPaths, ...groups(), ...topics.map((entry) => entry.name)];
  throw usageError(
    `unknown command or topic "${name}"`,
    didYouMean(name, names, (similar) => `"trdr help ${similar}"`) ||
      'run "trdr help" to list the commands and topics',
  );
}

export async function showHelp(io: Io, words: readonly string[], isBrief = false): Promise<void> {
  const isTerminal = io.stdout.isTTY === true;
  const columns = (isTerminal && io.stdout.columns) || PREPARED;
  const text = helpText(await wholeProgram({ columns, isBrief }), words);
  const isBold = wantsColor(colorMode(io.argv), io.env, isTerminal);
  const pager = isBrief ? undefined : await helpPager(io);
  const sink = pager ?? createSink(io.stdout, { name: 'stdout' });
  await sink.write(isBold ? text : withoutBold(text));
  await sink.finish('complete');
}

/** The flags of a line that asks for help are not read. */
async function helpPager(io: Io): Promise<Sink | undefined> {
  if (io.stdout.isTTY !== true || io.argv.includes('--no-pager')) return undefined;
  return (await import('../run/pager.ts')).pagerSink(io);
}

/** The texts that the build prepares, by the ending of their files. */
const preparedStyles: Readonly<Record<string, HelpStyle>> = {
  '.txt': plainStyle,
  '.brief.txt': { columns: PREPARED, isBrief: true },
  '.wide.txt': { columns: WIDEST, isBrief: false },
  '.brief.wide.txt': { columns: WIDEST, isBrief: true },
};

/**
 * Every page of help by the name of its file, as the build writes it. A group replaces the topic of
 * the same name.
 */
export async function helpFiles(): Promise<Record<string, string>> {
  const styles = Object.entries(preparedStyles);
  const texts = await Promise.all(styles.map(([ending, style]) => textsIn(style, ending)));
  return Object.fromEntries(texts.flat());
}

async function textsIn(style: HelpStyle, ending: string): Promise<[string, string][]> {
  const program = await wholeProgram(style);
  const pages = programsIn(program).map((command): [string, string] => [
    `${pageFile(command.words.join(' '))}${ending}`,
    command.helpInformation(),
  ]);
  if (style.isBrief) return pages;
  const topicPages = topics.map((topic): [string, string] => [
    `${topic.name}${ending}`,
    topicText(program, topic),
  ]);
  return [...topicPages, ...pages];
}

const programsIn = (program: Program): Program[] => [
  program,
  ...program.commands.flatMap(programsIn),
];
