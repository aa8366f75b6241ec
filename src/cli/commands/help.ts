import { command } from '../command.ts';
import { showPage } from '../docs/show.ts';

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
  examples: [
    { run: 'trdr help thesis tail', does: 'show help for a command' },
    { run: 'trdr help exit-codes', does: 'show help for a topic' },
  ],
  settings: 'none',
  exits: [0, 2],
  parse: (words) => words,
  async run({ io }, words) {
    const { findPage } = await import('../docs/help.ts');
    await showPage(io, await findPage(words));
  },
});
