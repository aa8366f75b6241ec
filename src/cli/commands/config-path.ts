import { needFolder } from '../../state/paths.ts';
import { command } from '../command.ts';
import { configOf } from '../settings/settings.ts';

export const configPath = command({
  path: 'config path',
  summary: 'Print the path of the config file',
  about: ['Works even if the file is missing or corrupt.'],
  args: [],
  options: {},
  common: [],
  examples: [{ run: '$EDITOR "$(trdr config path)"', does: 'edit the file by hand' }],
  calls: [],
  settings: 'none',
  exits: [0, 9],
  parse: () => undefined,
  async run({ io, printText, settings }) {
    needFolder(settings.folders, 'config');
    await printText(`${configOf(io).path}\n`);
    return 0;
  },
});
