import { Failure, usageError } from '../../base/failure.ts';
import { readAccount } from '../../contract/records/account.ts';
import { maskKey } from '../../core/client/mask-key.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import { keyKind } from '../../state/config/key-format.ts';
import { needFolder } from '../../state/paths.ts';
import { flag } from '../args/option.ts';
import { readKey } from '../args/read-key.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { askLine, isAttended } from '../prompt.ts';
import { configOf, sourcedSettings } from '../settings/settings.ts';

export const authLogin = command({
  path: 'auth login',
  summary: 'Keep a key in a profile, once the service has taken it',
  about: [
    'Asks for the key without showing it; with --with-key it is read from stdin. It is tried on the service with the free "me" before it is kept, unless --no-verify is given.',
    'The config file may be read by nobody but you. A key is never taken as an argument: other users of the machine, and your shell history, would see it there.',
    'Without --profile it goes into the profile in use. The first profile to hold a key becomes the one in use; "trdr auth switch" changes that.',
  ],
  args: [],
  excess:
    'a key is never taken from the command line: run it without and type the key, or pipe it in with --with-key',
  options: {
    withKey: flag('--with-key', 'read the key from stdin'),
    noVerify: flag('--no-verify', 'keep it without asking the service'),
  },
  common: ['service'],
  examples: [
    { run: 'trdr auth login --base-url https://api.example.com', does: 'type the key' },
    {
      run: 'pass show trdr/desk | trdr auth login --with-key --profile desk',
      does: 'from a password manager',
    },
  ],
  calls: ['me'],
  settings: 'tolerant',
  exits: [0, 2, 4, 5, 7, 9, 130],
  parse: (_, given) => given,
  async run(context, { withKey, noVerify }) {
    const { io, globals, signal } = context;
    if (globals.sandbox) {
      throw usageError(
        'the embedded service needs no key',
        'run any command with --sandbox, without logging in',
      );
    }
    if (await context.dryRun(noVerify ? [] : [{ id: 'me', ask: {} }])) return 0;
    // What is found out before the question is asked need not be asked in vain.
    needFolder(context.settings.folders, 'config');
    const settings = sourcedSettings(io, globals, { tolerant: true, newProfile: true });
    const profile = settings.profile.value;
    const asked = settings.baseUrl.value ?? (await askBaseUrl(context));
    const { origin, prefix } = parseBaseUrl(asked, { insecureHttp: settings.insecureHttp.value });
    const baseUrl = `${origin}${prefix}`;
    const key = await readKey(io, withKey, signal);
    const plan = noVerify ? undefined : await planOf(context, baseUrl, key);
    await configOf(io).login(profile, { key, baseUrl });

    const kind = keyKind(key);
    const what = `${kind === 'unknown' ? '' : `${kind} `}key ${maskKey(key)}`;
    context.notice(`kept the ${what} for ${baseUrl} in profile "${profile}"${plan ? ` (plan ${plan})` : ''}`);
    if (io.env['TRDR_API_KEY']) context.notice('TRDR_API_KEY is set, and goes before the key of any profile');
    const used = configOf(io).read().current;
    if (used !== profile && used !== undefined) {
      context.notice(`profile "${used}" stays in use: trdr auth switch ${profile}`);
    }
    return 0;
  },
});

async function askBaseUrl({ io, signal }: Context): Promise<string> {
  const given = isAttended(io) ? await askLine(io, 'Base URL of the service: ', { signal }) : undefined;
  if (given?.trim()) return given.trim();
  throw usageError('no base URL is set: trdr does not know whose key it is', 'add --base-url URL');
}

/** The plan of the key, or a failure: then nothing is kept. */
async function planOf(context: Context, baseUrl: string, key: string): Promise<string | null> {
  const client = await context.connect({ baseUrl, key, embedded: false });
  try {
    const { record } = await client.call('me', {}, { signal: context.signal });
    return readAccount(record).plan;
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'auth') throw error;
    const { code, status, requestId } = error;
    throw new Failure('auth', `${baseUrl} does not take this key: nothing is kept`, {
      code,
      status,
      requestId,
      hint: 'check that the key is whole and for this service; --no-verify keeps it all the same',
    });
  }
}
