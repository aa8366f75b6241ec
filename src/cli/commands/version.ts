import { command } from '../command.ts';
import { version as number } from '../version.ts';

export const versionCommand = command({
  path: 'version',
  summary: 'Print the version',
  about: ['The same as "trdr --version" or "trdr -v".'],
  args: [],
  options: {},
  common: [],
  examples: [{ run: 'trdr version', does: 'print the version of trdr' }],
  calls: [],
  settings: 'none',
  exits: [0, 2],
  parse: () => undefined,
  async run({ printText }) {
    await printText(`${number}\n`);
    return 0;
  },
});
