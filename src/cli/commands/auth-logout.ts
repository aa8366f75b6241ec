import { noProfile, profileOf } from '../../state/config/config-file.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import { configOf, profileName, withNearProfile } from '../settings/settings.ts';

export const authLogout = command({
  path: 'auth logout',
  summary: 'Remove the key of a profile',
  about: ['Keeps the base URL and the settings of the profile, unless --forget is given.'],
  args: [
    { name: 'profile', help: 'name of the profile [the current one]', optional: true, complete: 'profile' },
  ],
  options: { forget: flag('--forget', 'remove the whole profile, settings included') },
  common: [],
  examples: [
    { run: 'trdr auth logout', does: 'remove the key of the current profile' },
    { run: 'trdr auth logout desk --forget', does: 'remove a whole profile' },
  ],
  savesSettings: true,
  calls: [],
  settings: 'tolerant',
  exits: [0, 2, 9],
  parse: ([profile], given) => ({ ...given, profile }),
  async run(context, { profile, forget }) {
    const config = configOf(context.io);
    const name = profile ?? profileName(context.io, context.globals);
    const file = config.read();
    if (!profileOf(file, name)) throw withNearProfile(noProfile(file, name), Object.keys(file.profiles));
    if (forget) {
      await config.remove(name);
      context.notice(`Removed profile "${name}"`);
    } else {
      const hadKey = await config.logout(name);
      context.notice(hadKey ? `Logged out of profile "${name}"` : `profile "${name}" has no key`);
    }
    if (context.io.env['TRDR_API_KEY'])
      context.notice('TRDR_API_KEY is still set, so commands continue to use its key');
    return 0;
  },
});
