import { settingNames } from '../../state/config/settings-table.ts';
import { command } from '../command.ts';
import { writableSetting } from '../settings/setting-records.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';

export const configUnset = command({
  path: 'config unset',
  summary: 'Forget a setting of a profile, so that its default counts again',
  about: ['Without --profile it is the profile in use.'],
  args: [{ name: 'key', help: 'the setting', choices: settingNames }],
  options: {},
  common: [],
  examples: [{ run: 'trdr config unset maxCu', does: 'no ceiling any more' }],
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([word = '']) => writableSetting(word),
  async run(context, name) {
    const profile = sourcedSettings(context.io, context.globals, { tolerant: true }).profile.value;
    const was = await configOf(context.io).unset(profile, name);
    context.notice(
      was
        ? `${name} is no longer set in profile "${profile}"`
        : `${name} was not set in profile "${profile}"`,
    );
    return 0;
  },
});
