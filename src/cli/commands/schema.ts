import { usageError } from '../../base/failure.ts';
import { CommandDocument, CommandMap, SchemaRecord } from '../../contract/records/document.ts';
import { didYouMean } from '../../output/suggest.ts';
import { documentView } from '../../output/views/document.ts';
import { command } from '../command.ts';
import { describeAll, describeCommand } from '../docs/schema.ts';

export const schema = command({
  path: 'schema',
  summary: 'JSON Schema of what a command prints, with its flags, prices and exit codes',
  about: [
    'One JSON document for scripts and agents: the schema of one record (2020-12) under "record", and what the command takes, costs and ends in. Without a command: the map of all commands, with the schema of errors on stderr.',
    'On a terminal the document is spread out; there is no table of it.',
  ],
  args: [
    { name: 'command', help: 'the words of a command', optional: true, variadic: true, complete: 'command' },
  ],
  options: {},
  common: ['output'],
  examples: [
    { run: 'trdr schema whois | jq .record', does: 'the schema of a whois record' },
    { run: "trdr schema | jq -r '.commands[].command'", does: 'every command' },
    { run: "trdr schema thesis list | jq '.flags[].name'", does: 'the flags of one' },
  ],
  calls: [],
  record: () => SchemaRecord,
  exits: [0, 2],
  parse: (words) => words.join(' '),
  async run(context, path) {
    const document = await documentOf(path);
    if (context.format === 'table') {
      const sink = await context.output();
      await sink.write(`${JSON.stringify(document, undefined, 2)}\n`);
      await sink.end();
    } else await context.printOne(documentView(path === '' ? CommandMap : CommandDocument), document);
    return 0;
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
    inside.length > 0 ? `"${path}" is several commands` : `there is no command "${path}"`,
    inside.length > 0
      ? `name one: ${inside.join(', ')}`
      : didYouMean(path, paths) || 'trdr schema names them all',
  );
}
