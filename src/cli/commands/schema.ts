import { usageError } from '../../base/failure.ts';
import { fieldPaths } from '../../contract/paths.ts';
import { CommandDocument, CommandMap, SchemaRecord } from '../../contract/records/document.ts';
import { didYouMean } from '../../output/suggest.ts';
import { command } from '../command.ts';
import { describeAll, describeCommand } from '../docs/schema.ts';

export const schema = command({
  path: 'schema',
  summary: "Describe a command's records, flags and prices as JSON",
  about: [
    'Prints one JSON document for scripts and agents: under "record", the JSON Schema (2020-12) of one record, and the arguments, flags, prices and exit codes of the command. Without a command, prints a map: what each command does and costs, the flags that commands share, the exit codes, and the schema of the errors that go to stderr.',
    'On a terminal, the document is indented; there is no table format.',
  ],
  args: [{ name: 'command', help: 'name of a command', optional: true, variadic: true, complete: 'command' }],
  common: ['output'],
  examples: [
    { run: 'trdr schema whois | jq .record', does: 'print the schema of a whois record' },
    { run: "trdr schema | jq -r '.commands[].command'", does: 'list all commands' },
    { run: "trdr schema thesis list | jq '.flags[].name'", does: 'list the flags of a command' },
  ],
  record: () => SchemaRecord,
  exits: [0, 2],
  parse: (words) => words.join(' '),
  async run(context, path) {
    const document = await documentOf(path);
    if (context.format === 'table') await context.printText(`${JSON.stringify(document, undefined, 2)}\n`);
    else
      await context.printOne(
        { columns: [], fields: fieldPaths(path === '' ? CommandMap : CommandDocument), empty: '' },
        document,
      );
  },
});

async function documentOf(path: string): Promise<Record<string, unknown>> {
  const { tree } = await import('../tree.ts');
  const load = tree[path];
  if (load) return describeCommand(await load());
  if (path === '') return describeAll(await Promise.all(Object.values(tree).map((each) => each())));
  const paths = Object.keys(tree);
  const inside = paths.filter((each) => each.startsWith(`${path} `));
  throw usageError(
    inside.length > 0 ? `"${path}" is a group of commands` : `unknown command "${path}"`,
    inside.length > 0
      ? `choose from ${inside.join(', ')}`
      : didYouMean(path, paths) || 'run "trdr schema" to list all commands',
  );
}
