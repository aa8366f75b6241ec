import { messageAndHint } from '../../base/failure.ts';
import { SettingRecord } from '../../contract/records/tool.ts';
import { settingView } from '../../output/views/settings.ts';
import { configNames, readSetting, settingRows } from '../../state/config/settings-table.ts';
import { needFolder } from '../../state/paths.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import {
  isListed,
  readableSetting,
  readableSettings,
  settingRecords,
  settingText,
  settingWord,
  writableSetting,
} from '../settings/setting-records.ts';
import { configOf, profileName, sourcedSettings } from '../settings/settings.ts';
import configGetPage from './config-get.md';
import configListPage from './config-list.md';
import configPathPage from './config-path.md';
import configSetPage from './config-set.md';
import configUnsetPage from './config-unset.md';

export const configList = command({
  path: 'config list',
  page: configListPage,
  options: { origin: flag('--origin', 'show where each value comes from') },
  common: ['output'],
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [9],
  async run(context, { origin }) {
    const settings = sourcedSettings(context.terminal.io, context.settings.flags);
    for (const problem of settings.problems) context.terminal.notice(messageAndHint(problem));
    const rows = settingRecords(settings, origin);
    await context.out.print(
      settingView(origin, settingText),
      rows.filter(({ setting }) => isListed(setting, settings)),
    );
  },
});

export const configGet = command({
  path: 'config get',
  page: configGetPage,
  args: [{ name: 'setting', help: 'name of the setting', choices: readableSettings }],
  common: ['output'],
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [9],
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
  configNames.flatMap((name) => {
    const { choices } = settingRows[name].kind;
    return choices ? [[name, choices]] : [];
  }),
);

export const configSet = command({
  path: 'config set',
  page: configSetPage,
  inserts: {
    settings: configNames.map((name) => `${name} (${settingRows[name].about})`).join('; '),
  },
  args: [
    { name: 'setting', help: 'name of the setting', choices: configNames },
    { name: 'value', help: 'new value', choicesBy },
  ],
  savesSettings: true,
  settings: 'tolerant',
  exits: [9],
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
  page: configUnsetPage,
  args: [{ name: 'setting', help: 'name of the setting', choices: configNames }],
  savesSettings: true,
  settings: 'tolerant',
  exits: [9],
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
  page: configPathPage,
  settings: 'unread',
  exits: [9],
  async run({ terminal, out, settings }) {
    needFolder(settings.folders, 'config');
    await out.printText(`${configOf(terminal.io).path}\n`);
  },
});
