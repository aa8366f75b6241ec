import type { AnyCommand } from '../command.ts';
import { rootSections } from './help.ts';
import { type DocPage, docPage, pageName, type Term } from './page.ts';

/** The reference by file name: a page for each command, and one that leads to them. */
export function referenceFiles(commands: readonly AnyCommand[]): Record<string, string> {
  const pages = commands.map(
    (command) => [`${pageName(command.path)}.md`, markdown(docPage(command))] as const,
  );
  return { 'README.md': contents(commands), ...Object.fromEntries(pages) };
}

function contents(commands: readonly AnyCommand[]): string {
  const parts = rootSections(commands).map(({ title, commands: inside }) => {
    const rows = inside.map(
      ({ path, summary }) => `- [\`trdr ${path}\`](${pageName(path)}.md): ${escaped(summary)}.`,
    );
    return `## ${title}\n\n${rows.join('\n')}\n`;
  });
  return `# Reference\n\nA page for each command, made from the program itself.\n\n${parts.join('\n')}`;
}

function markdown({ path, summary, usage, about, args, flags, prices, exits, examples }: DocPage): string {
  const parts = [
    `# trdr ${path}\n\n${escaped(summary)}.\n\n\`\`\`sh\n${usage}\n\`\`\``,
    ...about.map(escaped),
    section(
      'Examples',
      examples.length > 0
        ? `\`\`\`sh\n${examples.map(({ run, does }) => `# ${does}\n${run}`).join('\n\n')}\n\`\`\``
        : '',
    ),
    section('Arguments', table(['argument', 'meaning'], args)),
    ...flags.map(({ title, rows }) => section(title, table(['flag', 'meaning'], rows))),
    section('Prices', table(['call', 'price'], prices)),
    section('Exit codes', table(['code', 'meaning'], exits)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const section = (title: string, body: string) => (body === '' ? '' : `## ${title}\n\n${body}`);

function table(titles: readonly [string, string], rows: readonly Term[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(
    ([term, meaning]) =>
      `| \`${term.replaceAll('|', '\\|')}\` | ${escaped(meaning).replaceAll('|', '\\|')} |`,
  );
  return [`| ${titles.join(' | ')} |`, '| --- | --- |', ...lines].join('\n');
}

/** Text that Markdown would take for something else. */
const escaped = (text: string) => text.replaceAll('<', '&lt;').replaceAll('*', '\\*').replaceAll('_', '\\_');
