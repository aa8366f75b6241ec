import { needFolder } from '../../state/paths.ts';
import { command } from '../command.ts';
import { configOf } from '../settings/settings.ts';

export const configPath = command({
  path: 'config path',
  summary: 'Where the config file is, or would be',
  about: ['It need not be there, or be whole: this is the way to mend it.'],
  args: [],
  options: {},
  common: [],
  examples: [{ run: '$EDITOR "$(trdr config path)"', does: 'by hand' }],
  calls: [],
  settings: 'none',
  exits: [0, 9],
  parse: () => undefined,
  async run({ io, output, settings }) {
    needFolder(settings.folders, 'config');
    const sink = await output();
    await sink.write(`${configOf(io).path}\n`);
    await sink.end();
    return 0;
  },
});
