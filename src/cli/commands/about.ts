import { usageError } from '../../base/failure.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CommandDocument, CommandMap, SchemaRecord } from '../../contract/records/document.ts';
import { didYouMean } from '../../output/suggest.ts';
import { command } from '../command.ts';
import { completionFiles } from '../docs/completion/file-names.ts';
import { version } from '../version.ts';

export const help = command({
  path: 'help',
  summary: 'Show help for a command or a topic',
  about: [
    '"trdr help COMMAND" is the same as "trdr COMMAND --help". Without an argument, lists all commands and topics.',
  ],
  args: [
    {
      name: 'topic',
      help: 'a command, a group of commands or a topic',
      optional: true,
      variadic: true,
      complete: 'help',
    },
  ],
  examples: {
    'trdr help thesis tail': 'show help for a command',
    'trdr help exit-codes': 'show help for a topic',
  },
  settings: 'unread',
  exits: [0, 2],
  parse: (words) => words,
  async run({ terminal }, words) {
    await (await import('../docs/help.ts')).showHelp(terminal.io, words);
  },
});

export const versionCommand = command({
  path: 'version',
  summary: 'Print the version',
  about: ['The same as "trdr --version" or "trdr -v".'],
  examples: { 'trdr version': 'print the version of trdr' },
  settings: 'unread',
  exits: [0, 2],
  async run({ out }) {
    await out.printText(`${version}\n`);
  },
});

export const skill = command({
  path: 'skill',
  summary: 'Print a skill for agents, as Markdown',
  about: [
    'The skill describes when to use trdr, the most important commands, errors, money and what never to do. Save it in the skills folder of an agent, or add it to the instructions of the agent.',
  ],
  examples: { 'trdr skill > SKILL.md': 'save the skill' },
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
  summary: 'Print the completion script for a shell',
  about: [
    'Completes commands, flags and their values, fields, settings, profiles, API paths and recently found handles. The package contains the same scripts in the folder completions.',
  ],
  args: [{ name: 'shell', help: shells.join(', '), choices: shells }],
  examples: {
    'source <(trdr completion bash)': 'bash: add this line to ~/.bashrc',
    'autoload -Uz compinit && compinit && source <(trdr completion zsh)':
      'zsh: add this line to ~/.zshrc',
    'trdr completion fish | source': 'fish: add this line to ~/.config/fish/config.fish',
    'trdr completion powershell | Out-String | Invoke-Expression':
      'PowerShell: add this line to $PROFILE',
  },
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
  summary: "Describe a command's records, flags and prices as JSON",
  about: [
    'Prints one JSON document for scripts and agents: under "record", the JSON Schema (2020-12) of one record, and the arguments, flags, prices and exit codes of the command. Without a command, prints a map: what each command does and costs, the flags that commands share, the exit codes, and the schema of the errors that go to stderr.',
    'On a terminal, the document is indented; there is no table format.',
  ],
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
  examples: {
    'trdr schema whois | jq .record': 'print the schema of a whois record',
    "trdr schema | jq -r '.commands[].command'": 'list all commands',
    "trdr schema thesis list | jq '.flags[].name'": 'list the flags of a command',
  },
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
