import { command } from '../command.ts';
import { version as number } from '../version.ts';

export const versionCommand = command({
  path: 'version',
  summary: 'Print the version',
  about: ['The same as "trdr --version" or "trdr -v".'],
  examples: [{ run: 'trdr version', does: 'print the version of trdr' }],
  settings: 'none',
  exits: [0, 2],
  async run({ printText }) {
    await printText(`${number}\n`);
  },
});
