import type { AnyCommand, Examples } from '../command.ts';
import { commandSections } from './overview.ts';
import { commandPage, type Definition, type DocPage, pageFile, type Section } from './page.ts';
import { topics } from './topics.ts';

export function referenceFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const pages = commands.map((command) => [`${pageFile(command.path)}.md`, commandText(command)] as const);
  const topicPages = topics.map((topic) => [topicFile(topic), topicText(topic)] as const);
  return { 'README.md': contents(commands), ...Object.fromEntries([...pages, ...topicPages]) };
}

const topicFile = ({ name }: DocPage) => `topic-${name}.md`;

function contents(commands: readonly AnyCommand[]): string {
  const lists = commandSections(commands).map(({ title, commands: inside }) => ({
    title,
    rows: inside.map(
      ({ path, summary }) => `- [\`trdr ${path}\`](${pageFile(path)}.md): ${escaped(summary)}.`,
    ),
  }));
  const topicList = {
    title: 'Topics',
    rows: topics.map((topic) => `- [\`trdr help ${topic.name}\`](${topicFile(topic)}): ${topic.summary}.`),
  };
  const parts = [...lists, topicList].map(({ title, rows }) => `## ${title}\n\n${rows.join('\n')}\n`);
  return `# Reference\n\nA page for each command and topic, generated from the program.\n\n${parts.join('\n')}`;
}

function commandText(command: AnyCommand): string {
  const page = commandPage(command);
  return document(`trdr ${page.name}`, page, [
    escaped(page.summary),
    `\`\`\`sh\n${page.usage}\n\`\`\``,
    ...page.about.map(escaped),
  ]);
}

const topicText = (page: DocPage) =>
  document(page.summary, page, [`\`trdr help ${page.name}\``, ...page.about.map(escaped)]);

const document = (title: string, { sections }: DocPage, intro: readonly string[]) =>
  `${[`# ${title}`, ...intro, ...sections.map(sectionText)].join('\n\n')}\n`;

const sectionText = ({ title, text = [], terms = [], code = {} }: Section): string =>
  [`## ${title}`, ...text.map(escaped), table(terms), codeText(code)]
    .filter((part) => part !== '')
    .join('\n\n');

function codeText(code: Examples): string {
  const lines = Object.entries(code).map(([run, does]) => `# ${does}\n${run}`);
  return lines.length === 0 ? '' : `\`\`\`sh\n${lines.join('\n\n')}\n\`\`\``;
}

/** A table with empty headings, because the title above it is enough. */
function table(terms: readonly Definition[]): string {
  if (terms.length === 0) return '';
  const cell = (text: string) => text.replaceAll('|', '\\|');
  const rows = terms.map(([term, meaning]) => `| \`${cell(term)}\` | ${cell(escaped(meaning))} |`);
  return ['| | |', '| --- | --- |', ...rows].join('\n');
}

const escaped = (text: string) => text.replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
