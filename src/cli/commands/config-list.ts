import { SettingRecord } from '../../contract/records/tool.ts';
import { settingView } from '../../output/views/settings.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { settingRecords, settingText } from '../settings/setting-records.ts';
import { sourcedSettings } from '../settings/settings.ts';

export const configList = command({
  path: 'config list',
  summary: 'Show the effective settings',
  about: [
    'Flags override the environment, which overrides the profile in the config file, which overrides the defaults. In JSON, NDJSON, CSV and TSV, durations are in milliseconds and shares are fractions.',
  ],
  args: [],
  options: { origin: flag('--origin', 'show where each value comes from') },
  common: ['output'],
  examples: [
    { run: 'trdr config list --origin', does: 'see where each value comes from' },
    { run: 'trdr config list --profile desk', does: 'show the settings of a different profile' },
  ],
  calls: [],
  record: () => SettingRecord,
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: (_, given) => given,
  async run(context, { origin }) {
    const settings = sourcedSettings(context.io, context.globals, { tolerant: true });
    for (const { message, hint } of settings.problems) context.notice(hint ? `${message}; ${hint}` : message);
    await context.print(settingView(origin, settingText), settingRecords(settings, origin));
    return 0;
  },
});
