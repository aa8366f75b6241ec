import { flagGroups } from '../args/option.ts';
import type { AnyCommand, Examples } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { version } from '../version.ts';
import { outlineOf } from './completion/outline.ts';
import { completionScripts } from './completion/scripts.ts';
import { allCommands, allPages } from './help.ts';
import { commandSections, overviewPage } from './overview.ts';
import { commandPage, type Definition, type DocPage, pageFile, type Section } from './page.ts';
import { skillTexts } from './skill.ts';
import { topics } from './topics.ts';

/** What the build and `npm run generate` write. With the JSON of `help` and `outline`, trdr need not load the commands. */
export async function preparedTexts() {
  const [commands, pages] = await Promise.all([allCommands(), allPages()]);
  return {
    help: Object.fromEntries(
      pages.map((page) => [`${pageFile(page.name)}.json`, JSON.stringify(page)]),
    ),
    man: manFiles(commands),
    reference: referenceFiles(commands),
    completions: completionScripts,
    outline: JSON.stringify(outlineOf(commands)),
    ...skillTexts(commands),
  };
}

/** The man pages by file name: trdr(1), one page in section 1 per command, and one in section 7 per topic. */
function manFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const paths = commands.map(({ path }) => path);
  const pages = commands.map((command): [string, string] => [
    `${manName(command.path)}.1`,
    manPage(
      commandPage(command),
      1,
      ['', ...siblings(command.path, paths)].map((path) => reference(path)),
    ),
  ]);
  const topicPages = topics.map((topic): [string, string] => [
    `${manName(topic.name)}.7`,
    manPage(topic, 7, [reference('')]),
  ]);
  return { 'trdr.1': overview(commands), ...Object.fromEntries([...pages, ...topicPages]) };
}

const manName = (name: string) => (name === '' ? 'trdr' : `trdr-${pageFile(name)}`);

function siblings(path: string, paths: readonly string[]): string[] {
  const group = path.split(' ')[0] ?? path;
  return paths.filter((other) => other !== path && other.split(' ')[0] === group);
}

function overview(commands: readonly AnyCommand[]): string {
  const environment = topics.find(({ name }) => name === 'environment');
  const page: DocPage = {
    ...overviewPage(commands),
    about: [
      'The command-line client of a service for trader identity, trading numbers, the thesis feed and the launchpad. Data goes to stdout, everything else to stderr. Each command has a page of its own, such as trdr-whois(1). With --sandbox, commands run against the embedded service: no key, no network, no cost.',
    ],
    sections: [
      ...commandSections(commands).map(({ title, commands: inside }) => ({
        title,
        terms: inside.map(({ path, summary }) => [`trdr ${path}`, summary] as const),
      })),
      {
        title: 'Environment',
        terms: (environment?.sections ?? []).flatMap(({ terms = [] }) => terms),
      },
      { title: 'Exit codes', terms: Object.entries(exitCodes) },
    ],
  };
  return manPage(
    page,
    1,
    topics.map(({ name }) => reference(name, 7)),
  );
}

function manPage(page: DocPage, part: 1 | 7, seeAlso: readonly string[]): string {
  const { name, summary, usage, about, sections } = page;
  const parts = [
    `.TH "${manName(name).toUpperCase()}" "${part}" "" "trdr ${version}" "trdr manual"\n.nh\n.ad l`,
    `.SH NAME\n${text(manName(name))} \\- ${text(summary.replace(/\.$/, ''))}`,
    usage === undefined ? '' : `.SH SYNOPSIS\n${text(usage)}`,
    about.length === 0 ? '' : `.SH DESCRIPTION\n${about.map(text).join('\n.PP\n')}`,
    ...sections.map((each) => `${headingOf(each.title)}\n${sectionBody(each)}`),
    `.SH SEE ALSO\n${seeAlso.join(' ,\n')}`,
  ];
  return `${parts.filter((each) => each !== '').join('\n')}\n`;
}

/** Headings that have a traditional name in man pages. */
const titles: Readonly<Record<string, string>> = { Flags: 'OPTIONS', 'Exit codes': 'EXIT STATUS' };

/** Man pages have all flags of a command under one heading. */
function headingOf(title: string): string {
  const groups: readonly string[] = flagGroups;
  const group = groups.indexOf(title);
  if (group < 0) return `.SH ${titles[title] ?? title.toUpperCase()}`;
  return `${group === 0 ? '.SH OPTIONS\n' : ''}.SS ${title}`;
}

const sectionBody = ({ text: paragraphs = [], terms = [], code = {} }: Section): string =>
  [
    paragraphs.map(text).join('\n.PP\n'),
    termLines(terms),
    Object.entries(code)
      .map(([run, does]) => `${text(`${does}:`)}\n.PP\n.RS 4\n.nf\n${text(run)}\n.fi\n.RE`)
      .join('\n.PP\n'),
  ]
    .filter((part) => part !== '')
    .join('\n.PP\n');

const termLines = (rows: readonly Definition[]) =>
  rows.map(([term, meaning]) => `.TP\n\\fB${text(term)}\\fR\n${text(meaning)}`).join('\n');

const reference = (name: string, part: 1 | 7 = 1) => `.BR ${text(manName(name))} (${part})`;

/** Escapes special characters, hyphens (so that users can copy them), and lines that roff would take for requests. */
const text = (given: string) =>
  given
    .replace(/[\\'`^~-]/g, (char) => special[char] ?? char)
    .replace(
      /[^\x00-\x7e]/gu,
      (char) => `\\[u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^\./gm, '\\&.');

const special: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** The reference in Markdown by file name: a page per command and topic. */
function referenceFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const pages = commands.map((command) => {
    const page = commandPage(command);
    const usage = `${escaped(page.summary)}\n\n\`\`\`sh\n${page.usage}\n\`\`\``;
    return [`${pageFile(page.name)}.md`, pageText(`trdr ${page.name}`, usage, page)] as const;
  });
  const topicPages = topics.map(
    (topic) =>
      [topicFile(topic), pageText(topic.summary, `\`trdr help ${topic.name}\``, topic)] as const,
  );
  return { 'README.md': contents(commands), ...Object.fromEntries([...pages, ...topicPages]) };
}

const topicFile = ({ name }: DocPage) => `topic-${name}.md`;

function contents(commands: readonly AnyCommand[]): string {
  const row = (words: string, file: string, summary: string) =>
    `- [\`trdr ${words}\`](${file}): ${escaped(summary)}.\n`;
  const lists = commandSections(commands).map(({ title, commands: inside }) => [
    `## ${title}\n\n`,
    ...inside.map(({ path, summary }) => row(path, `${pageFile(path)}.md`, summary)),
  ]);
  const topicRows = topics.map((topic) =>
    row(`help ${topic.name}`, topicFile(topic), topic.summary),
  );
  const parts = [...lists, ['## Topics\n\n', ...topicRows]].map((lines) => lines.join(''));
  return `# Reference\n\nA page for each command and topic, generated from the program.\n\n${parts.join('\n')}`;
}

const pageText = (title: string, usage: string, { about, sections }: DocPage) =>
  `${[`# ${title}`, usage, ...about.map(escaped), ...sections.map(sectionText)].join('\n\n')}\n`;

const sectionText = ({ title, text = [], terms = [], code = {} }: Section): string =>
  [`## ${title}`, ...text.map(escaped), markdownTable(terms), codeText(code)]
    .filter((part) => part !== '')
    .join('\n\n');

function codeText(code: Examples): string {
  const lines = Object.entries(code).map(([run, does]) => `# ${does}\n${run}`);
  return lines.length === 0 ? '' : `\`\`\`sh\n${lines.join('\n\n')}\n\`\`\``;
}

/** A table with empty headings, because the title above it is enough. */
function markdownTable(terms: readonly Definition[]): string {
  if (terms.length === 0) return '';
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = terms.map(([term, meaning]) => `| \`${cell(term)}\` | ${cell(escaped(meaning))} |`);
  return ['| | |', '| --- | --- |', ...rows].join('\n');
}

const escaped = (text: string) =>
  text.replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
