import type { Examples } from '../command.ts';
import type { Definition, DocPage, Section } from './page.ts';

/** The maximum number of columns of a text, because longer lines are hard to read. */
const WIDEST = 100;
/** On narrower terminals, a description is printed below its term. */
const STACK_BELOW = 60;

export function layoutPage(
  page: DocPage,
  { columns, bold }: { columns: number; bold: boolean },
): string {
  const width = Math.min(WIDEST, Math.max(20, columns));
  const heading = (text: string) => (bold ? `\x1b[1m${text}\x1b[22m` : text);
  const { summary, usage, about, sections, footer } = page;
  const parts = [
    wrap(summary, '', width),
    usage === undefined ? [] : wrap(`Usage: ${usage}`, '', width, '  ').map(boldUsage(heading)),
    ...about.map((paragraph) => wrap(paragraph, '', width)),
    ...sections.map((section) => [heading(`${section.title}:`), ...sectionLines(section, width)]),
    footer === undefined ? [] : wrap(footer, '', width),
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

const boldUsage = (heading: (text: string) => string) => (line: string) =>
  line.replace(/^Usage:/, heading);

function sectionLines({ text = [], terms = [], code = {} }: Section, width: number): string[] {
  const blocks = [
    ...text.map((paragraph) => wrap(paragraph, '  ', width)),
    termLines(terms, width),
    codeLines(code, width),
  ].filter((lines) => lines.length > 0);
  return blocks.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/** Command lines are not wrapped, so that users can copy them. */
const codeLines = (code: Examples, width: number) =>
  Object.entries(code).flatMap(([run, does]) => [...wrap(does, '  # ', width), `  ${run}`]);

function termLines(terms: readonly Definition[], width: number): string[] {
  if (terms.length === 0) return [];
  const aligned = alignShort(terms);
  if (width < STACK_BELOW) {
    return aligned.flatMap(([term, meaning]) => [
      `  ${term.trim()}`,
      ...wrap(meaning, '      ', width),
    ]);
  }
  // Very long terms do not determine the width of the column: they are printed on their own lines.
  const widest = Math.floor(width * 0.45);
  const lengths = aligned.map(([term]) => term.length);
  const column = Math.max(
    Math.min(widest, ...lengths),
    ...lengths.filter((length) => length <= widest),
  );
  const indent = ' '.repeat(column + 4);
  return aligned.flatMap(([term, meaning]) => {
    const [first = '', ...others] = wrap(meaning, indent, width);
    return term.length > column
      ? [`  ${term}`, first, ...others]
      : [`  ${term.padEnd(column)}  ${first.trimStart()}`, ...others];
  });
}

/** Indents flags without a short name by the width of `-x, `, if another flag has a short name. */
function alignShort(terms: readonly Definition[]): readonly Definition[] {
  if (!terms.some(([term]) => /^-\w, /.test(term))) return terms;
  return terms.map(([term, meaning]) => [term.startsWith('--') ? `    ${term}` : term, meaning]);
}

/** Wraps a paragraph. All lines except the first are also indented by `hang`. */
function wrap(text: string, indent: string, width: number, hang = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const lead = indent.length + (lines.length > 0 ? hang.length : 0);
    if (line !== '' && lead + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') lines.push(line);
  return lines.map((each, index) => `${indent}${index > 0 ? hang : ''}${each}`);
}
