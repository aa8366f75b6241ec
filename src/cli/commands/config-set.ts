import { readSetting } from '../../state/config/read-setting.ts';
import { settingNames, settingRows } from '../../state/config/settings-table.ts';
import { command } from '../command.ts';
import { writableSetting } from '../settings/setting-records.ts';
import { configOf, profileName, sourcedSettings } from '../settings/settings.ts';

/** The accepted values of the settings that allow only certain values. */
const choicesBy = Object.fromEntries(
  settingNames.flatMap((name) => {
    const { choices } = settingRows[name].kind;
    return choices ? [[name, choices]] : [];
  }),
);

export const configSet = command({
  path: 'config set',
  summary: 'Change a setting of a profile',
  about: [
    'Changes the current profile, or the one given with --profile. Creates the profile if it does not exist.',
    `Settings: ${settingNames.map((name) => `${name} (${settingRows[name].about})`).join('; ')}.`,
  ],
  args: [
    { name: 'setting', help: 'name of the setting', choices: settingNames },
    { name: 'value', help: 'new value', choicesBy },
  ],
  options: {},
  common: [],
  examples: [
    { run: 'trdr config set confirmAbove 1M', does: 'ask only before runs above 1,000,000 CU' },
    { run: 'trdr config set output table --profile desk', does: 'change the output format of one profile' },
  ],
  savesSettings: true,
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse([word = '', value = '']) {
    const name = writableSetting(word);
    readSetting(name, value, name);
    return { name, value };
  },
  async run(context, { name, value }) {
    const profile = profileName(context.io, context.globals, { newProfile: true });
    await configOf(context.io).set(profile, name, value);
    const now = sourcedSettings(context.io, context.globals, { tolerant: true, newProfile: true })[name];
    context.notice(`Set ${name} in profile "${profile}"`);
    if (now.origin === 'environment') context.notice(`${now.from} is set and overrides this value`);
    return 0;
  },
});
