import { command } from '../command.ts';
import { configOf, withNearProfile } from '../settings/settings.ts';

export const authSwitch = command({
  path: 'auth switch',
  summary: 'Switch to another profile',
  about: ['All commands use this profile unless --profile or TRDR_PROFILE selects another.'],
  args: [{ name: 'profile', help: 'profile to switch to', complete: 'profile' }],
  options: {},
  common: [],
  examples: [{ run: 'trdr auth switch desk', does: 'use the profile desk from now on' }],
  savesSettings: true,
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([profile = '']) => profile,
  async run(context, profile) {
    const config = configOf(context.io);
    try {
      await config.use(profile);
    } catch (error) {
      throw withNearProfile(error, Object.keys(config.read().profiles));
    }
    context.notice(`Switched to profile "${profile}"`);
    const { TRDR_PROFILE: named, TRDR_API_KEY: key } = context.io.env;
    if (named && named !== profile)
      context.notice(`TRDR_PROFILE is set: commands use profile "${named}" instead`);
    if (key) context.notice('TRDR_API_KEY is set and overrides the key of every profile');
    return 0;
  },
});
