import { Failure } from '../../base/failure.ts';
import { ProfileRecord } from '../../contract/records/tool.ts';
import { profileView } from '../../output/views/settings.ts';
import { flag } from '../args/option.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { type SavedProfile, savedProfiles } from '../settings/profiles.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';

export const authStatus = command({
  path: 'auth status',
  summary: 'Show all profiles with their base URLs and masked keys',
  about: [
    'Shows the effective values of the current profile (flags, environment, config file) and the saved values of the others. --check verifies each key with a free call.',
    'Exits 4 if the current profile has no key or, with --check, the service rejects that key.',
  ],
  args: [],
  options: { check: flag('--check', 'verify each key with the service') },
  common: ['output', 'service'],
  examples: [
    { run: 'trdr auth status', does: 'list the profiles' },
    {
      run: 'trdr auth status --check -q > /dev/null || alert',
      does: 'check from cron that the key still works',
    },
  ],
  calls: ['me'],
  record: () => ProfileRecord,
  settings: 'tolerant',
  exits: [0, 2, 4, 5, 7, 9],
  parse: (_, given) => given,
  async run(context, { check }) {
    if (context.globals.sandbox) return showEmbedded(context, check);
    const settings = sourcedSettings(context.io, context.globals, { tolerant: true });
    const profiles = savedProfiles(settings, configOf(context.io).read());
    const asked = check
      ? profiles.filter(({ key, baseUrl }) => key !== undefined && baseUrl !== undefined)
      : [];
    if (check && (await context.dryRun(asked.map(() => ({ id: 'me', ask: {} }))))) return 0;
    for (const { message } of settings.problems) context.notice(message);

    let failed: unknown;
    await context.emit(profileView(check), false, async (out) => {
      for (const each of profiles) {
        const { record, failure } = check ? await checked(context, each) : { record: each.record };
        if (record.current) failed = failure;
        await out.write(record);
      }
    });
    if (failed !== undefined) throw failed;
    if (settings.key.value !== undefined) return 0;
    throw new Failure('auth', `no key configured for profile "${settings.profile.value}"`, {
      code: 'NO_KEY',
      hint: 'run "trdr auth login", set TRDR_API_KEY, or try a command with --sandbox',
    });
  },
});

/**
 * Verifies the key of a profile with the service. A failure is returned, so that the other profiles are still
 * checked.
 */
async function checked(
  context: Context,
  { record, baseUrl, key }: SavedProfile,
): Promise<{ readonly record: ProfileRecord; readonly failure?: Failure }> {
  if (key === undefined) return { record: { ...record, check: 'NO_KEY' } };
  if (baseUrl === undefined) return { record: { ...record, check: 'NO_BASE_URL' } };
  try {
    const client = await context.connect({ baseUrl, key, embedded: false });
    await client.call('me', {}, { signal: context.signal });
    return { record: { ...record, check: 'ok' } };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    return { record: { ...record, check: failure.code }, failure };
  }
}

async function showEmbedded(context: Context, check: boolean) {
  if (check) await (await context.client()).call('me', {}, { signal: context.signal });
  await context.print(profileView(check), [
    {
      profile: 'sandbox',
      current: true,
      baseUrl: null,
      baseUrlFrom: '--sandbox',
      key: null,
      keyFrom: '--sandbox',
      mode: 'test' as const,
      ...(check && { check: 'ok' }),
    },
  ]);
  return 0 as const;
}
