import { usageError } from '../../base/failure.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CommandDocument, CommandMap, SchemaRecord } from '../../contract/records/document.ts';
import { didYouMean } from '../../output/suggest.ts';
import { command } from '../command.ts';
import { completionFiles } from '../docs/completion/file-names.ts';
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
  exits: [0, 2],
  parse: (words) => words,
  async run({ terminal }, words) {
    await (await import('../docs/help.ts')).showHelp(terminal.io, words);
  },
});

export const versionCommand = command({
  path: 'version',
  page: versionPage,
  settings: 'unread',
  exits: [0, 2],
  async run({ out }) {
    await out.printText(`${version}\n`);
  },
});

export const skill = command({
  path: 'skill',
  page: skillPage,
  settings: 'unread',
  exits: [0, 2],
  async run({ out }) {
    const { preparedTexts } = await import('../docs/manual.ts');
    await out.printText((await preparedTexts()).skill);
  },
});

type Shell = keyof typeof completionFiles;
const shells = Object.keys(completionFiles) as Shell[];
const isShell = (name: string): name is Shell => Object.hasOwn(completionFiles, name);

export const completion = command({
  path: 'completion',
  page: completionPage,
  args: [{ name: 'shell', help: shells.join(', '), choices: shells }],
  exits: [0, 2],
  parse([name = '']) {
    if (isShell(name)) return completionFiles[name];
    throw usageError(`no completion for "${name}"`, `choose from ${shells.join(', ')}`);
  },
  async run(context, file) {
    const { completionScripts } = await import('../docs/completion/scripts.ts');
    await context.out.printText(completionScripts[file] ?? '');
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
  exits: [0, 2],
  parse: (words) => words.join(' '),
  async run(context, path) {
    const document = await documentOf(path);
    if (context.settings.format === 'table')
      await context.out.printText(`${JSON.stringify(document, undefined, 2)}\n`);
    else
      await context.out.print(
        { columns: [], fields: fieldPaths(path === '' ? CommandMap : CommandDocument), empty: '' },
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
  const inside = paths.filter((each) => each.startsWith(`${path} `));
  if (inside.length > 0)
    throw usageError(`"${path}" is a group of commands`, `choose from ${inside.join(', ')}`);
  throw usageError(
    `unknown command "${path}"`,
    didYouMean(path, paths) || 'run "trdr schema" to list all commands',
  );
}
