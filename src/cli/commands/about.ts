import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CommandDocument, CommandMap, SchemaRecord } from '../../contract/records/document.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { completionFiles } from '../docs/completion/file-names.ts';
import type { Shell } from '../docs/completion/install.ts';
import { version } from '../version.ts';
import completionPage from './completion.md';
import helpPage from './help.md';
import schemaPage from './schema.md';
import skillPage from './skill.md';
import versionPage from './version.md';

export const help = command({
  path: 'help',
  page: helpPage,
  args: [
    {
      name: 'topic',
      help: 'a command, a group of commands or a topic',
      optional: true,
      variadic: true,
      complete: 'help',
    },
  ],
  settings: 'unread',
  parse: (words) => words,
  async run({ terminal }, words) {
    await (await import('../docs/help.ts')).showHelp(terminal.io, words);
  },
});

export const versionCommand = command({
  path: 'version',
  page: versionPage,
  settings: 'unread',
  async run({ out }) {
    await out.printText(`${version}\n`);
  },
});

export const skill = command({
  path: 'skill',
  page: skillPage,
  settings: 'unread',
  async run({ out }) {
    const { preparedTexts } = await import('../docs/manual.ts');
    await out.printText((await preparedTexts()).skill);
  },
});

const shells = Object.keys(completionFiles).filter(isShell);

function isShell(name: string): name is Shell {
  return Object.hasOwn(completionFiles, name);
}

/**
 * What `completion` does: it prints a script, or installs one for a shell, by default that of the
 * user.
 */
interface CompletionInput {
  readonly shell: Shell | undefined;
  readonly isInstall: boolean;
  readonly isUninstall: boolean;
}

export const completion = command({
  path: 'completion',
  page: completionPage,
  args: [
    {
      name: 'shell',
      help: `${shells.join(', ')}, install or uninstall`,
      choices: [...shells, 'install', 'uninstall'],
    },
    {
      name: 'install-for',
      help: 'after install or uninstall: the shell; by default that of the variable SHELL',
      optional: true,
      choicesBy: { install: shells, uninstall: shells },
    },
  ],
  usage: '<shell> | install [shell] | uninstall [shell]',
  options: {
    uninstall: flag('--uninstall', 'with install: remove the file that install has written'),
  },
  exits: [9],
  parse([first = '', named], flags): CompletionInput {
    const word = first === 'uninstall' ? 'install' : first;
    const uninstall = flags.uninstall || first === 'uninstall';
    const isInstall = word === 'install';
    const name = isInstall ? named : word;
    if (!isInstall && (uninstall || named !== undefined))
      throw usageError(
        uninstall ? '--uninstall requires install' : 'too many arguments',
        `use "trdr completion install${uninstall ? ' --uninstall' : ` ${word}`}"`,
      );
    if (name !== undefined && !isShell(name))
      throw usageError(`no completion for "${name}"`, `choose from ${shells.join(', ')}`);
    return { shell: name, isInstall, isUninstall: uninstall };
  },
  async run({ terminal, out }, { shell, isInstall, isUninstall }) {
    if (isInstall) {
      const { install, shellOf, uninstall } = await import('../docs/completion/install.ts');
      const act = isUninstall ? uninstall : install;
      for (const line of act(shell ?? shellOf(terminal.io), terminal.io)) terminal.notice(line);
      return;
    }
    const { completionScripts } = await import('../docs/completion/scripts.ts');
    await out.printText((shell && completionScripts[completionFiles[shell]]) ?? '');
  },
});

export const schema = command({
  path: 'schema',
  page: schemaPage,
  args: [
    {
      name: 'command',
      help: 'name of a command',
      optional: true,
      variadic: true,
      complete: 'command',
    },
  ],
  common: ['output'],
  record: () => SchemaRecord,
  parse: (words) => words.join(' '),
  async run(context, path) {
    const document = await documentOf(path);
    if (context.settings.format === 'table')
      await context.out.printText(`${JSON.stringify(document, undefined, 2)}\n`);
    else
      await context.out.print(
        {
          columns: [],
          fields: () => fieldPaths(path === '' ? CommandMap : CommandDocument),
          empty: '',
        },
        [document],
        { isSingle: true },
      );
  },
});

async function documentOf(path: string): Promise<Record<string, unknown>> {
  const [{ allLeaves }, { describeAll, describeCommand }] = await Promise.all([
    import('../docs/help.ts'),
    import('../docs/schema.ts'),
  ]);
  const leaves = await allLeaves();
  if (path === '') return describeAll(leaves);
  const leaf = leaves.find(({ spec }) => spec.path === path);
  if (leaf) return describeCommand(leaf);
  const paths = leaves.map(({ spec }) => spec.path);
  const inside = paths.filter((other) => other.startsWith(`${path} `));
  if (inside.length > 0)
    throw usageError(`"${path}" is a group of commands`, `choose from ${inside.join(', ')}`);
  throw usageError(
    `unknown command "${path}"`,
    didYouMean(path, paths) || 'run "trdr schema" to list all commands',
  );
}
