import { SettingRecord } from '../../contract/records/tool.ts';
import { settingView } from '../../output/views/settings.ts';
import { command } from '../command.ts';
import {
  readableSetting,
  readableSettings,
  settingRecords,
  settingText,
  settingWord,
} from '../settings/setting-records.ts';
import { sourcedSettings } from '../settings/settings.ts';

export const configGet = command({
  path: 'config get',
  summary: 'Show the effective value of a setting',
  about: [
    'Prints the bare value as "trdr config set" accepts it, or an empty line if the setting is not set. With an output format, prints a record. The API key is masked, and the store password is hidden.',
  ],
  args: [{ name: 'setting', help: 'name of the setting', choices: readableSettings }],
  options: {},
  common: ['output'],
  examples: [
    { run: 'trdr config get baseUrl', does: 'print the effective base URL' },
    {
      run: 'trdr config get maxAge --json',
      does: 'print a record that also shows where the value comes from',
    },
  ],
  calls: [],
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([word = '']) => readableSetting(word),
  async run(context, name) {
    const settings = sourcedSettings(context.io, context.globals, { tolerant: true });
    for (const { message } of settings.problems) context.notice(message);
    const row = settingRecords(settings, true).find(({ setting }) => setting === name);
    if (!row) throw new Error(`no row describes the setting ${name}`);
    const { json, output, fields, out } = context.globals;
    // With the setting output=table, print the bare value: tables are for lists.
    const preferred = context.settings.output ?? 'table';
    if (json || (output ?? fields ?? out) !== undefined || preferred !== 'table') {
      await context.printOne(settingView(true, settingText), row);
      return 0;
    }
    await context.printText(`${settingWord(row)}\n`);
    return 0;
  },
});
