import type { Examples } from '../command.ts';

export type Definition = readonly [term: string, meaning: string];

export interface Section {
  readonly title: string;
  readonly text?: readonly string[];
  readonly terms?: readonly Definition[];
  readonly code?: Examples;
  readonly isFlagGroup?: true;
}

/** A text in Markdown as the pages show it. */
interface Prose {
  readonly title: string;
  readonly text: readonly string[];
  readonly sections: readonly Section[];
}

/**
 * What the program itself knows and a text names in double braces: words within a sentence, or
 * definitions.
 */
export type Inserts = Readonly<Record<string, string | readonly Definition[]>>;

interface OpenSection {
  readonly title: string;
  readonly text: string[];
  readonly terms: Definition[];
  readonly code: Record<string, string>;
}

const openSection = (title: string): OpenSection => ({ title, text: [], terms: [], code: {} });

/**
 * Reads the Markdown of help pages: a title, paragraphs, sections, lists of terms with their
 * meanings, and shell examples with a comment above each command line. Anything else fails, so that
 * no text is lost on its way to a page.
 */
export function readProse(markdown: string, inserts: Inserts = {}): Prose {
  const opened: OpenSection[] = [];
  for (const block of blocksOf(markdown)) {
    const [, marks, title] = /^(#{1,2}) (.+)$/.exec(block) ?? [];
    if (marks !== undefined && title !== undefined) {
      const isFirst = opened.length === 0;
      if ((marks === '#') !== isFirst) throw new Error(`an unexpected heading: ${block}`);
      opened.push(openSection(title));
    } else addBlock(opened.at(-1) ?? missingTitle(block), block, inserts);
  }
  const [first, ...sections] = opened;
  if (first === undefined) throw new Error('a text without a title');
  return { title: first.title, text: first.text, sections };
}

function missingTitle(block: string): never {
  throw new Error(`a text that begins without a title: ${block}`);
}

/** The parts between empty lines; an example may have empty lines. */
const blocksOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^```[\s\S]*?^```$|^\S.*(?:\n(?!```).+)*/gm)].map(([block]) => block);

function addBlock(section: OpenSection, block: string, inserts: Inserts): void {
  const [, name] = /^\{\{(\w+)\}\}$/.exec(block) ?? [];
  const definitions = name === undefined ? undefined : inserts[name];
  if (definitions !== undefined && typeof definitions !== 'string')
    section.terms.push(...definitions);
  else if (block.startsWith('```')) Object.assign(section.code, examplesIn(block));
  else if (block.startsWith('- ')) section.terms.push(...termsIn(block));
  else section.text.push(withInserts(block.replaceAll('\n', ' '), inserts));
}

function withInserts(text: string, inserts: Inserts): string {
  return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const insert = inserts[name];
    if (typeof insert !== 'string') throw new Error(`nothing to insert for {{${name}}}`);
    return insert;
  });
}

/** Examples: a comment, and below it the command line. */
function examplesIn(block: string): Examples {
  const [, body = ''] = /^```sh\n([\s\S]*)\n```$/.exec(block) ?? [];
  const pairs = body.split('\n\n').map((example): readonly [string, string] => {
    const [, does = '', run] = /^(?:# (.*)\n)?([^#].*)$/.exec(example) ?? [];
    if (run === undefined) throw new Error(`not a comment and a command line: ${example}`);
    return [run, does];
  });
  return Object.fromEntries(pairs);
}

/** The lines of a list: a term in backticks, a colon, and its meaning. */
function termsIn(block: string): Definition[] {
  return block.split(/\n(?=- )/).map((item) => {
    const [, term, meaning] = /^- `([^`]+)`: ([\s\S]+)$/.exec(item) ?? [];
    if (term === undefined || meaning === undefined)
      throw new Error(`not a term with its meaning: ${item}`);
    return [term, meaning.replace(/\n\s*/g, ' ')];
  });
}
