import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root: string = join(import.meta.dirname, '../..');

/** A fenced block: the words after its fence, its text and its line. */
export interface Block {
  readonly info: string;
  readonly text: string;
  readonly line: number;
}

/** A parsed page of the documentation. */
export interface Page {
  /** The path relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Inline code, outside of blocks. */
  readonly codes: readonly string[];
  readonly links: readonly string[];
  /** The anchors of its headings. */
  readonly anchors: readonly string[];
}

const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

function pageOf(path: string, text: string): Page {
  const blocks: Block[] = [];
  const prose: string[] = [];
  let open: { info: string; lines: string[]; line: number } | undefined;
  text.split('\n').forEach((line, index) => {
    const fence = /^```(.*)$/.exec(line);
    if (open && fence) {
      blocks.push({ info: open.info, text: `${open.lines.join('\n')}\n`, line: open.line });
      open = undefined;
    } else if (open) open.lines.push(line);
    else if (fence) open = { info: fence[1] ?? '', lines: [], line: index + 2 };
    else prose.push(line);
  });
  const words = prose.join('\n');
  return {
    path,
    text,
    blocks,
    codes: [...words.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', '|')),
    links: [...words.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target),
    anchors: [...words.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slugOf(heading)),
  };
}

export const readPage = (path: string): Page =>
  pageOf(path, readFileSync(join(root, path), 'utf8'));

/** README and every page in docs. */
export const allPages = (): Page[] =>
  [
    'README.md',
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map(
      (name) => `docs/${name}`,
    ),
  ]
    .filter((path) => path.endsWith('.md'))
    .map(readPage);
