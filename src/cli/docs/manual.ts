import type { Examples } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { sections as overviewSections, sectionOf } from '../tree.ts';
import { version } from '../version.ts';
import { outlineOf } from './completion/outline.ts';
import { completionScripts } from './completion/scripts.ts';
import { helpFiles, leavesOf, wholeProgram } from './help.ts';
import { commandPage, type DocPage, type Leaf, pageFile } from './page.ts';
import type { Definition, Section } from './prose.ts';
import { skillTexts } from './skill.ts';
import { topics } from './topics.ts';

/**
 * What the build and `npm run generate` write. With the texts of `help` and `outline`, trdr need
 * not load the commands.
 */
export async function preparedTexts() {
  const [program, help] = await Promise.all([wholeProgram(), helpFiles()]);
  const leaves = leavesOf(program);
  return {
    help,
    man: manFiles(leaves, program.summary()),
    reference: referenceFiles(leaves),
    completions: completionScripts,
    outline: JSON.stringify(outlineOf(leaves)),
    ...skillTexts(new Map(leaves.map((leaf) => [leaf.spec.path, leaf.summary()]))),
  };
}

/**
 * The man pages by file name: trdr(1), one page in section 1 per command, and one in section 7 per
 * topic.
 */
function manFiles(leaves: readonly Leaf[], summary: string): Record<string, string> {
  const paths = leaves.map(({ spec }) => spec.path);
  const pages = leaves.map((leaf): [string, string] => [
    `${manName(leaf.spec.path)}.1`,
    manPage(commandPage(leaf), 1, [
      ...['', ...siblings(leaf.spec.path, paths)].map((path) => reference(path)),
      reference('flags', 7),
    ]),
  ]);
  const topicPages = topics.map((topic): [string, string] => [
    `${manName(topic.name)}.7`,
    manPage(topic, 7, [reference('')]),
  ]);
  return {
    'trdr.1': overview(leaves, summary),
    ...Object.fromEntries([...pages, ...topicPages]),
  };
}

const manName = (name: string) => (name === '' ? 'trdr' : `trdr-${pageFile(name)}`);

function siblings(path: string, paths: readonly string[]): string[] {
  const group = path.split(' ')[0] ?? path;
  return paths.filter((other) => other !== path && other.split(' ')[0] === group);
}

/** The commands by the sections of the overview. */
function commandSections(leaves: readonly Leaf[]) {
  return [...Object.keys(overviewSections), 'More']
    .map((title) => ({
      title,
      commands: leaves.filter(({ spec }) => sectionOf(spec.path.split(' ')[0] ?? '') === title),
    }))
    .filter(({ commands }) => commands.length > 0);
}

function overview(leaves: readonly Leaf[], summary: string): string {
  const environment = topics.find(({ name }) => name === 'environment');
  const page: DocPage = {
    name: '',
    summary,
    usage: 'trdr [flags] [command]',
    about: [
      'The command-line client of a service for trader identity, trading numbers, the thesis feed and the launchpad. Data goes to stdout, everything else to stderr. Each command has a page of its own, such as trdr-whois(1). With --sandbox, commands run against the embedded service: no key, no network, no cost.',
    ],
    sections: [
      ...commandSections(leaves).map(({ title, commands }) => ({
        title,
        terms: commands.map((leaf) => [`trdr ${leaf.spec.path}`, leaf.summary()] as const),
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
    ...sections.map(
      (section, at) => `${headingOf(section, sections[at - 1])}\n${sectionBody(section)}`,
    ),
    `.SH SEE ALSO\n${seeAlso.join(' ,\n')}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n')}\n`;
}

/** Headings that have a traditional name in man pages. */
const titles: Readonly<Record<string, string>> = { Flags: 'OPTIONS', 'Exit codes': 'EXIT STATUS' };

/** Man pages have all flags of a command under one heading. */
function headingOf({ title, isFlagGroup }: Section, before: Section | undefined): string {
  if (!isFlagGroup || title === 'Flags') return `.SH ${titles[title] ?? title.toUpperCase()}`;
  return `${before?.isFlagGroup ? '' : '.SH OPTIONS\n'}.SS ${title}`;
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

/**
 * Escapes special characters, hyphens (so that users can copy them), and lines that roff would take
 * for requests.
 */
const text = (raw: string) =>
  raw
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
function referenceFiles(leaves: readonly Leaf[]): Record<string, string> {
  const pages = leaves.map((leaf) => {
    const page = commandPage(leaf);
    const usage = `${escaped(page.summary)}\n\n\`\`\`sh\n${page.usage}\n\`\`\``;
    return [`${pageFile(page.name)}.md`, pageText(`trdr ${page.name}`, usage, page)] as const;
  });
  const topicPages = topics.map(
    (topic) =>
      [topicFile(topic), pageText(topic.summary, `\`trdr help ${topic.name}\``, topic)] as const,
  );
  return { 'README.md': contents(leaves), ...Object.fromEntries([...pages, ...topicPages]) };
}

const topicFile = ({ name }: DocPage) => `topic-${name}.md`;

function contents(leaves: readonly Leaf[]): string {
  const row = (words: string, file: string, summary: string) =>
    `- [\`trdr ${words}\`](${file}): ${escaped(summary)}.\n`;
  const lists = commandSections(leaves).map(({ title, commands }) => [
    `## ${title}\n\n`,
    ...commands.map((leaf) =>
      row(leaf.spec.path, `${pageFile(leaf.spec.path)}.md`, leaf.summary()),
    ),
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
