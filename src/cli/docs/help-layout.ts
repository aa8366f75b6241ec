import { type Command, Help, type HelpConfiguration } from 'commander';
import { Program } from '../program/program.ts';
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
    command instanceof Program && isLeaf(command) ? Object.values(command.spec.options) : [],
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

const joined = (parts: readonly string[]): string =>
  `${parts.filter((part) => part !== '').join('\n\n')}\n`;

function sectionsFor(program: Program, isBrief: boolean): readonly Section[] {
  if (!isLeaf(program)) return groupSections(program);
  const { examples } = commandProse(program.spec);
  if (!isBrief) return sectionsOf(program.spec, examples);
  const first = Object.entries(examples).slice(0, BRIEF_EXAMPLES);
  return [{ title: 'Examples', code: Object.fromEntries(first) }];
}

/** The overview also lists the topics; a group has the sections of the topic with its name. */
function groupSections({ words }: Program): readonly Section[] {
  if (words.length > 0) return topics.find(({ name }) => name === words.join(' '))?.sections ?? [];
  return [
    {
      title: 'Topics',
      terms: topics.map(({ name, summary }) => [`help ${name}`, summary]),
    },
    {
      title: 'Try it without a key or a network',
      code: {
        'trdr whois mira --sandbox': '',
        'trdr thesis tail --count 5 --duration 1m --sandbox': '',
      },
    },
  ];
}

function footerOf(command: Command, isBrief: boolean): string {
  const path = command instanceof Program ? ['trdr', ...command.words].join(' ') : '';
  if (path === 'trdr') return 'Run "trdr COMMAND --help" or "trdr help TOPIC" for details.';
  if (command.commands.length > 0) return `Run "${path} COMMAND --help" for details.`;
  return isBrief ? `Run "${path} --help" for details, prices, exit codes and common flags.` : '';
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
