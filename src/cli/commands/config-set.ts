import { readSetting, settingNames, settingRows } from '../../state/config/settings-table.ts';
import { command } from '../command.ts';
import { writableSetting } from '../settings/setting-records.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';

export const configSet = command({
  path: 'config set',
  summary: 'Keep a setting in a profile',
  about: [
    'Without --profile it goes into the profile in use. A profile that is not there yet is made.',
    `Settings: ${settingNames.map((name) => `${name} (${settingRows[name].about})`).join('; ')}.`,
  ],
  args: [
    { name: 'key', help: 'the setting', choices: settingNames },
    { name: 'value', help: 'what it is to be' },
  ],
  options: {},
  common: [],
  examples: [
    { run: 'trdr config set confirmAbove 1M', does: 'ask before runs above a million CU only' },
    { run: 'trdr config set output table --profile desk', does: 'for one profile' },
  ],
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse([word = '', value = '']) {
    const name = writableSetting(word);
    readSetting(name, value, name);
    return { name, value };
  },
  async run(context, { name, value }) {
    const how = { tolerant: true, newProfile: true };
    const profile = sourcedSettings(context.io, context.globals, how).profile.value;
    await configOf(context.io).set(profile, name, value);
    const now = sourcedSettings(context.io, context.globals, how)[name];
    context.notice(`${name} is set in profile "${profile}"`);
    if (now.origin === 'environment') context.notice(`${now.from} is set, and goes before it`);
    return 0;
  },
});
