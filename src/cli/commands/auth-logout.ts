import { noProfile, profileOf } from '../../state/config/config-file.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, sourcedSettings, withNearProfile } from '../settings/settings.ts';

export const authLogout = command({
  path: 'auth logout',
  summary: 'Forget the key of a profile',
  about: ['Its base URL and settings stay, unless --forget is given.'],
  args: [
    { name: 'profile', help: 'the profile; without it, the one in use', optional: true, complete: 'profile' },
  ],
  options: { forget: flag('--forget', 'remove the profile, with its base URL and settings') },
  common: [],
  examples: [
    { run: 'trdr auth logout', does: 'forget the key in use' },
    { run: 'trdr auth logout desk --forget', does: 'remove a profile' },
  ],
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([profile], given) => ({ ...given, profile }),
  async run(context, { profile, forget }) {
    const config = configOf(context.io);
    const name = profile ?? sourcedSettings(context.io, context.globals, { tolerant: true }).profile.value;
    const file = config.read();
    if (!profileOf(file, name)) throw withNearProfile(noProfile(file, name), Object.keys(file.profiles));
    if (forget) {
      await config.remove(name);
      context.notice(`profile "${name}" is removed`);
    } else {
      const held = await config.logout(name);
      context.notice(held ? `the key of profile "${name}" is forgotten` : `profile "${name}" held no key`);
    }
    if (context.io.env['TRDR_API_KEY']) context.notice('TRDR_API_KEY is still set');
    return 0;
  },
});
