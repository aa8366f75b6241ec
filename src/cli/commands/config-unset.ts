import { settingNames } from '../../state/config/settings-table.ts';
import { command } from '../command.ts';
import { writableSetting } from '../settings/setting-records.ts';
import { configOf, profileName } from '../settings/settings.ts';

export const configUnset = command({
  path: 'config unset',
  summary: 'Reset a setting to its default',
  about: ['Changes the current profile, or the one given with --profile.'],
  args: [{ name: 'setting', help: 'name of the setting', choices: settingNames }],
  options: {},
  common: [],
  examples: [{ run: 'trdr config unset maxCu', does: 'remove the default spending limit' }],
  savesSettings: true,
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([word = '']) => writableSetting(word),
  async run(context, name) {
    const profile = profileName(context.io, context.globals);
    const was = await configOf(context.io).unset(profile, name);
    context.notice(
      was ? `Reset ${name} in profile "${profile}"` : `${name} was not set in profile "${profile}"`,
    );
    return 0;
  },
});
