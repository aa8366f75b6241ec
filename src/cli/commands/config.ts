import { SettingRecord } from '../../contract/records/tool.ts';
import { settingView } from '../../output/views/settings.ts';
import { readSetting, settingNames, settingRows } from '../../state/config/settings-table.ts';
import { needFolder } from '../../state/paths.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import {
  readableSetting,
  readableSettings,
  settingRecords,
  settingText,
  settingWord,
  writableSetting,
} from '../settings/setting-records.ts';
import { configOf, profileName, sourcedSettings } from '../settings/settings.ts';

export const configList = command({
  path: 'config list',
  summary: 'Show the effective settings',
  about: [
    'Flags override the environment, which overrides the profile in the config file, which overrides the defaults. In JSON, NDJSON, CSV and TSV, durations are in milliseconds and shares are fractions.',
  ],
  options: { origin: flag('--origin', 'show where each value comes from') },
  common: ['output'],
  examples: {
    'trdr config list --origin': 'see where each value comes from',
    'trdr config list --profile desk': 'show the settings of a different profile',
  },
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [0, 2, 9],
  async run(context, { origin }) {
    const settings = sourcedSettings(context.terminal.io, context.settings.flags);
    for (const { message, hint } of settings.problems)
      context.terminal.notice(hint ? `${message}; ${hint}` : message);
    await context.out.print(settingView(origin, settingText), settingRecords(settings, origin));
  },
});

export const configGet = command({
  path: 'config get',
  summary: 'Show the effective value of a setting',
  about: [
    'Prints the bare value as "trdr config set" accepts it, or an empty line if the setting is not set. With an output format, prints a record. The API key is masked, and the store password is hidden.',
  ],
  args: [{ name: 'setting', help: 'name of the setting', choices: readableSettings }],
  common: ['output'],
  examples: {
    'trdr config get baseUrl': 'print the effective base URL',
    'trdr config get maxAge --json': 'print a record that also shows where the value comes from',
  },
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([word = '']) => readableSetting(word),
  async run(context, name) {
    const settings = sourcedSettings(context.terminal.io, context.settings.flags);
    for (const { message } of settings.problems) context.terminal.notice(message);
    const row = settingRecords(settings, true).find(({ setting }) => setting === name);
    if (!row) throw new Error(`no row describes the setting ${name}`);
    const { json, output, fields, out } = context.settings.flags;
    // With the setting output=table, print the bare value: tables are for lists.
    const preferred = context.settings.output ?? 'table';
    if (json || (output ?? fields ?? out) !== undefined || preferred !== 'table') {
      await context.out.print(settingView(true, settingText), [row], { isSingle: true });
      return;
    }
    await context.out.printText(`${settingWord(row)}\n`);
  },
});

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
  examples: {
    'trdr config set confirmAbove 1M': 'ask only before runs above 1,000,000 CU',
    'trdr config set output table --profile desk': 'change the output format of one profile',
  },
  savesSettings: true,
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse([word = '', value = '']) {
    const name = writableSetting(word);
    readSetting(name, value, name);
    return { name, value };
  },
  async run(context, { name, value }) {
    const profile = profileName(context.terminal.io, context.settings.flags, true);
    await configOf(context.terminal.io).set(profile, name, value);
    const now = sourcedSettings(context.terminal.io, context.settings.flags, true)[name];
    context.terminal.notice(`Set ${name} in profile "${profile}"`);
    if (now.origin === 'environment')
      context.terminal.notice(`${now.from} is set and overrides this value`);
  },
});

export const configUnset = command({
  path: 'config unset',
  summary: 'Reset a setting to its default',
  about: ['Changes the current profile, or the one given with --profile.'],
  args: [{ name: 'setting', help: 'name of the setting', choices: settingNames }],
  examples: { 'trdr config unset maxCu': 'remove the default spending limit' },
  savesSettings: true,
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([word = '']) => writableSetting(word),
  async run(context, name) {
    const profile = profileName(context.terminal.io, context.settings.flags);
    const was = await configOf(context.terminal.io).unset(profile, name);
    context.terminal.notice(
      was ? `Reset ${name} in profile "${profile}"` : `${name} was not set in profile "${profile}"`,
    );
  },
});

export const configPath = command({
  path: 'config path',
  summary: 'Print the path of the config file',
  about: ['Works even if the file is missing or corrupt.'],
  examples: { '$EDITOR "$(trdr config path)"': 'edit the file by hand' },
  settings: 'unread',
  exits: [0, 9],
  async run({ terminal, out, settings }) {
    needFolder(settings.folders, 'config');
    await out.printText(`${configOf(terminal.io).path}\n`);
  },
});
