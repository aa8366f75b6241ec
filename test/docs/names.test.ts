import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { everyCommonOption } from '../../src/cli/args/common.ts';
import type { Options } from '../../src/cli/args/option.ts';
import { allCommands } from '../../src/cli/docs/help.ts';
import { readLine } from '../../src/cli/program/read-line.ts';
import { groups } from '../../src/cli/tree.ts';
import { allPages, type Block, type Page, root } from './pages.ts';

const pages = allPages();
const commands = new Map((await allCommands()).map((command) => [command.path, command]));
const packageFile = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** The long names of flags. A flag may have two. */
const namesOf = (options: Options) =>
  Object.values(options).flatMap(({ flags }) =>
    [...flags.matchAll(/--([a-z][\w-]*)/g)].map(([, name = '']) => name),
  );
const anyFlag = new Set([
  ...namesOf(everyCommonOption),
  ...[...commands.values()].flatMap(({ options }) => namesOf(options)),
]);

/** A word of a command line: its text without quotes, and whether a shell replaces a part of it. */
interface Word {
  readonly text: string;
  readonly isOpen: boolean;
}

/** A word: quoted and unquoted parts. A digit before a redirection belongs to the redirection. */
const word = /[ \t]+(?!\d*[<>])((?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\|;&<>()`])+)/y;
/** `trdr` where a shell would run it, also inside a substitution; in `sudo -u trdr` it is a value. */
const call = /(?<=^|[\s"(|;&=])(?<!-[su] )(?:(?:[\w./]*bin\/)?trdr|bin\/trdr\.js)(?= )/gm;

/** The words after each `trdr` that a script runs, up to the end or a redirection of its command. */
function callsIn(script: string): Word[][] {
  // A backslash continues a line, and a here-document is input.
  const text = script
    .replaceAll('\\\n', ' ')
    .replace(/<<-?\s*['"]?(\w+)['"]?(.*\n)[\s\S]*?^\s*\1$/gm, '$2');
  const code = text.replace(/(^|\s)#.*$/gm, '$1');
  return [...code.matchAll(call)].map(({ index, 0: name }) => {
    const words: Word[] = [];
    word.lastIndex = index + name.length;
    for (let found = word.exec(code); found; found = word.exec(code)) {
      const [, raw = ''] = found;
      const plain = raw.replace(
        /'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g,
        (_, one, two, char) => one ?? two ?? char,
      );
      words.push({ text: plain, isOpen: /\$/.test(raw.replace(/'[^']*'|\\./g, '')) });
    }
    return words;
  });
}

/** The part of a block that a shell would run. */
function scriptOf({ info, text }: Block): string | undefined {
  const [language] = info.split(' ');
  if (language === 'sh' || language === 'bash') return text;
  if (language === 'console')
    return [...text.matchAll(/^\$ (.*)$/gm)].map(([, line]) => line).join('\n');
  if (language === 'cron')
    return [...text.matchAll(/^(?:(?:[\d*/,-]+ +){5}|@\w+ )(.*)$/gm)]
      .map(([, line]) => line)
      .join('\n');
  if (language === 'ini')
    return [...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, line]) => line).join('\n');
  return undefined;
}

const scriptsOf = (page: Page) =>
  page.blocks.flatMap((block) => {
    const script = scriptOf(block);
    return script === undefined ? [] : [{ script, at: `${page.path}:${block.line}` }];
  });

const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');
const said = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** What is wrong with a trdr command line according to its parser; undefined if it is valid. */
async function flawOf(words: readonly Word[]): Promise<string | undefined> {
  const argv = words.map(({ text }) => text);
  // A usage line in a reference page is a pattern and not a command.
  if (argv.includes('[flags]')) return undefined;
  try {
    // A number is a valid substitute for any variable.
    const line = await readLine(argv.map((text) => (text.includes('$') ? '1' : text)));
    if ('helpFor' in line || words.some(({ isOpen }) => isOpen)) return undefined;
    line.command.parse(line.parsed.args, line.parsed.flags as never);
    return undefined;
  } catch (error) {
    return said(error);
  }
}

/** What is wrong with a command line that may contain placeholders: the command and its flags must exist. */
function flawOfMention(code: string): string | undefined {
  const words = code.split(/[\s[\]]+/).filter((word) => word !== '' && word !== '...');
  const [first = '', second = ''] = words.slice(1).filter((word) => !word.startsWith('-'));
  const path = [`${first} ${second}`, first].find((words) => commands.has(words));
  const command = path === undefined ? undefined : commands.get(path);
  if (!command && first !== '' && !groups().includes(first) && first !== 'COMMAND')
    return `unknown command "${first}"`;
  const known = new Set(
    command ? [...namesOf(everyCommonOption), ...namesOf(command.options)] : anyFlag,
  );
  return words
    .flatMap((word) => /^--([a-z][\w-]*)/.exec(word)?.[1] ?? [])
    .filter((name) => name !== 'version' && !known.has(name))
    .map((name) => `unknown flag --${name}`)[0];
}

describe('README and docs', () => {
  it('contain no broken links', () => {
    const broken = pages.flatMap((page) =>
      page.links
        .filter((link) => !/^[a-z]+:/.test(link))
        .filter((link) => {
          const [file = '', anchor] = link.split('#');
          const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
          if (!existsSync(join(root, path))) return true;
          const target = pages.find((each) => each.path === path);
          return anchor !== undefined && !target?.anchors.includes(anchor);
        })
        .map((link) => `${page.path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('show valid command lines', async () => {
    const lines = pages
      .flatMap(scriptsOf)
      .flatMap(({ script, at }) => callsIn(script).map((words) => ({ at, words })));
    // Check that lines are found at all, in case the format of the pages changes.
    expect(lines.length).toBeGreaterThan(60);
    const flaws = await Promise.all(
      lines.map(async ({ at, words }) => {
        const flaw = await flawOf(words);
        return flaw === undefined ? [] : [`${at}: trdr ${textOf(words)}: ${flaw}`];
      }),
    );
    expect(flaws.flat()).toEqual([]);
  });

  it('mention only existing commands and flags', () => {
    // The changelog also names what was removed.
    const current = pages.filter(({ path }) => path !== 'docs/changelog.md');
    const flaws = current.flatMap(({ path, codes }) =>
      codes.flatMap((code) => {
        const flag = /^--([a-z][\w-]*)/.exec(code)?.[1];
        const isUnknown =
          flag !== undefined && !anyFlag.has(flag) && flag !== 'version' && flag !== 'check';
        const flaw = isUnknown
          ? 'no command has it'
          : /^trdr /.test(code)
            ? flawOfMention(code)
            : undefined;
        return flaw === undefined ? [] : [`${path}: ${code}: ${flaw}`];
      }),
    );
    expect(flaws).toEqual([]);
  });

  it('mention only existing scripts and files', () => {
    const rooms =
      /^(?:(?:src|test|docs|bin|completions|\.tools|\.ci)\/|(?:contract|core|feed|state|output|cli|sandbox)\/\S*\.ts$)/;
    const flaws = pages.flatMap((page) => {
      const words = scriptsOf(page).flatMap(({ script }) => script.split(/\s+/));
      const mentions = [...page.codes, ...words].filter(
        (word) => rooms.test(word) && !/[A-Z*<>\s$]/.test(word.replace('README', '')),
      );
      const missing = mentions.filter(
        (path) => !existsSync(join(root, path)) && !existsSync(join(root, 'src', path)),
      );
      const scripts = [...page.text.matchAll(/npm run ([a-z-]+)/g)].map(([, name = '']) => name);
      const unknown = scripts.filter((name) => !Object.hasOwn(packageFile.scripts, name));
      return [...missing, ...unknown].map((what) => `${page.path}: ${what}`);
    });
    expect(flaws).toEqual([]);
  });
});
