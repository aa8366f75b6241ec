import { command } from '../command.ts';
import { configOf, withNearProfile } from '../settings/settings.ts';

export const authSwitch = command({
  path: 'auth switch',
  summary: 'Use another profile from now on',
  about: ['Every command uses this profile, unless --profile or TRDR_PROFILE names another.'],
  args: [{ name: 'profile', help: 'a profile of the config file', complete: 'profile' }],
  options: {},
  common: [],
  examples: [{ run: 'trdr auth switch desk', does: 'from now on the key of the desk' }],
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
    context.notice(`profile "${profile}" is in use`);
    const { TRDR_PROFILE: named, TRDR_API_KEY: key } = context.io.env;
    if (named) context.notice(`TRDR_PROFILE is set, and goes before it: "${named}"`);
    if (key) context.notice('TRDR_API_KEY is set, and goes before the key of any profile');
    return 0;
  },
});
