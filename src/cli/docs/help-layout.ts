import { type Command, Help, type HelpConfiguration } from 'commander';
import type { Flag } from '../args/option.ts';
import type { AnyCommand } from '../command.ts';
import { Program } from '../program/program.ts';
import { sections, wordsAfter } from '../tree.ts';
import { bold } from './bold.ts';
import { commandProse } from './command-prose.ts';
import { describeFlag } from './describe-flag.ts';
import { type DocPage, isLeaf, sectionsOf } from './page.ts';
import type { Section } from './prose.ts';
import { topics } from './topics.ts';

const commander = Help.prototype;

/** A brief page shows this many examples, so that it fits a screen. */
const BRIEF_EXAMPLES = 3;

/**
 * What trdr changes in commander's help: its words, the sections that commander does not know, and
 * narrow terminals.
 */
export const helpLayout = (isBrief: boolean): HelpConfiguration => ({
  minWidthToWrap: 20,
  styleTitle: bold,
  commandUsage: (command) => commander.commandUsage(command).replace('[options]', '[flags]'),
  visibleOptions: (command) =>
    command instanceof Program && isLeaf(command) ? shownFlags(command.spec, isBrief) : [],
  visibleCommands: (command) =>
    isBrief && isOverview(command) ? [] : commander.visibleCommands(command),
  optionDescription: describeFlag,
  argumentDescription: ({ description }) => description,
  subcommandTerm: (command) => command.name(),
  commandDescription: (command) => (isBrief ? `${command.summary()}.` : command.description()),
  formatItem: formatDefinition,
  formatHelp(command, helper) {
    const sections = command instanceof Program ? sectionsFor(command, isBrief) : [];
    return joined([
      // Usage, description, arguments, flags and commands.
      commander.formatHelp.call(helper, command, helper).trimEnd(),
      ...sections.map((section) => formatSection(section, helper)),
      helper.boxWrap(footerOf(command, isBrief), widthOf(helper)),
    ]);
  },
});

/** A screen has no room for the titles of groups, so the most used flags are in one list. */
function shownFlags({ options, mostUsed }: AnyCommand, isBrief: boolean): Flag<unknown>[] {
  if (!isBrief || !mostUsed) return Object.values(options);
  return mostUsed.flatMap((name) => options[name]?.copy().helpGroup('Most used flags:') ?? []);
}

const isOverview = (command: Command): boolean =>
  command instanceof Program && command.words.length === 0;

const joined = (parts: readonly string[]): string =>
  `${parts.filter((part) => part !== '').join('\n\n')}\n`;

function sectionsFor(program: Program, isBrief: boolean): readonly Section[] {
  if (!isLeaf(program))
    return isBrief && isOverview(program) ? briefOverview : groupSections(program);
  const prose = commandProse(program.spec);
  if (!isBrief) return sectionsOf(program.spec, prose);
  const first = Object.entries(prose.examples).slice(0, BRIEF_EXAMPLES);
  return [{ title: 'Examples', code: Object.fromEntries(first) }];
}

const trial: Section = {
  title: 'Try it without a key or a network',
  code: {
    'trdr whois mira --sandbox': '',
    'trdr thesis tail --count 5 --duration 1m --sandbox': '',
  },
};

/** The overview also lists the topics; a group has the sections of the topic with its name. */
function groupSections({ words }: Program): readonly Section[] {
  if (words.length > 0) return topics.find(({ name }) => name === words.join(' '))?.sections ?? [];
  return [
    {
      title: 'Topics',
      terms: topics.map(({ name, summary }) => [`help ${name}`, summary]),
    },
    trial,
  ];
}

/** The commands by what they are for; their summaries would not fit a screen. */
const briefOverview: readonly Section[] = [
  {
    title: 'Commands',
    terms: Object.entries(sections).map(([title, names]) => [
      title,
      names.map(nameWithCommands).join(', '),
    ]),
  },
  {
    title: 'Topics',
    text: [`trdr help ${topics.map(({ name }) => name).join(', ')}`],
  },
  trial,
];

/** `launchpad (user, callouts, tail, board)` */
function nameWithCommands(name: string): string {
  const commands = wordsAfter([name]);
  return commands.length > 0 ? `${name} (${commands.join(', ')})` : name;
}

function footerOf(command: Command, isBrief: boolean): string {
  const path = command instanceof Program ? ['trdr', ...command.words].join(' ') : '';
  if (path === 'trdr') {
    const whole = isBrief ? '"trdr --help" for what each command does, ' : '';
    return `Run ${whole}"trdr COMMAND --help" or "trdr help TOPIC" for details.`;
  }
  if (command.commands.length > 0) return `Run "${path} COMMAND --help" for details.`;
  if (!isBrief) return '';
  const spec = command instanceof Program ? command.spec : undefined;
  const flags = spec?.mostUsed ? `all ${Object.keys(spec.options).length} flags, ` : '';
  return `Run "${path} --help" for ${flags}details, prices, exit codes and common flags.`;
}

/** A term with its meaning; on narrow terminals, the meaning is below the term. */
function formatDefinition(
  this: Help,
  term: string,
  termWidth: number,
  meaning: string,
  helper: Help,
): string {
  const width = helper.helpWidth ?? 80;
  if (width >= STACK_BELOW)
    return commander.formatItem.call(this, term, termWidth, meaning, helper);
  return `  ${term}\n${indented(helper.boxWrap(meaning, width - 6), 6)}`;
}

/** Too little room would be left beside the longest term on a narrower terminal. */
const STACK_BELOW = 70;

const indented = (text: string, by: number): string => text.replace(/^/gm, ' '.repeat(by));

/** A topic, which commander does not know. */
export const formatTopic = ({ summary, about, sections }: DocPage, helper: Help): string =>
  joined([
    helper.boxWrap(summary, widthOf(helper)),
    ...about.map((paragraph) => helper.boxWrap(paragraph, widthOf(helper))),
    ...sections.map((section) => formatSection(section, helper)),
  ]);

const widthOf = ({ helpWidth = 80 }: Help): number => helpWidth;

function formatSection({ title, text = [], terms = [], code = {} }: Section, helper: Help): string {
  const column = Math.max(0, ...terms.map(([term]) => term.length));
  const blocks = [
    ...text.map((paragraph) => indented(helper.boxWrap(paragraph, widthOf(helper) - 2), 2)),
    terms.map(([term, meaning]) => helper.formatItem(term, column, meaning, helper)).join('\n'),
    Object.entries(code)
      .flatMap((example) => exampleLines(example, helper))
      .join('\n'),
  ].filter((block) => block !== '');
  return `${helper.styleTitle(`${title}:`)}\n${blocks.join('\n\n')}`;
}

/** Command lines are not wrapped, so that users can copy them. */
function exampleLines([run, does]: [string, string], helper: Help): string[] {
  const comment = does === '' ? [] : [helper.boxWrap(does, widthOf(helper) - 4)];
  return [...comment.map((text) => text.replace(/^/gm, '  # ')), `  ${run}`];
}
