import { homedir } from 'node:os';
import { join } from 'node:path';
import { readBounded } from '../../base/files.ts';
import { baseUrl } from '../../base/values.ts';
import { openCache } from '../../state/cache.ts';
import { foldersOf, homeOf } from '../../state/paths.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Bag = Readonly<Record<string, unknown>>;

const MOST = 200;
const LARGEST_CONFIG = 1024 * 1024;

/**
 * What a shell asks for while a line is typed: `KIND PREFIX [--profile P] [--sandbox]`. Reads the config
 * file by hand, since a key press has no time to load what checks it; whatever is wrong gives nothing.
 */
export function complete(words: readonly string[], env: Env, platform: string, cwd: string): string[] {
  const [kind, prefix = '', ...more] = words;
  const folders = foldersOf({ env, platform, home: homeOf(env, platform, homedir), cwd });
  const config = readConfig(folders.config);
  if (kind === 'profile') return Object.keys(config.profiles).filter((name) => name.startsWith(prefix));
  if (kind !== 'handle') return [];
  const at = more.indexOf('--profile');
  const named = at >= 0 ? more[at + 1] : undefined;
  const scope = more.includes('--sandbox')
    ? { baseUrl: 'sandbox:', key: 'sandbox', dir: folders.cache && join(folders.cache, 'sandbox') }
    : { ...service(config, named, env), dir: folders.cache };
  const handles = openCache({ ...scope, now: Date.now }).listHandles(prefix, MOST);
  return prefix.startsWith('@') ? handles.map((handle) => `@${handle}`) : handles;
}

/** Base URL and key of the run that is being typed: environment first, then the profile. */
function service({ current, profiles }: Config, named: string | undefined, env: Env) {
  const profile = profiles[named ?? (env['TRDR_PROFILE'] || current)] ?? {};
  const url = baseUrl.read(env['TRDR_BASE_URL'] || textOf(profile['baseUrl']));
  return { baseUrl: url ?? '', key: env['TRDR_API_KEY']?.trim() || textOf(profile['key']) };
}

interface Config {
  readonly current: string;
  readonly profiles: Readonly<Record<string, Bag>>;
}

function readConfig(folder: string | undefined): Config {
  const file: unknown = folder === undefined ? undefined : parsed(join(folder, 'config.json'));
  const profiles = isBag(file) && isBag(file['profiles']) ? file['profiles'] : {};
  return {
    current: (isBag(file) && textOf(file['current'])) || 'default',
    profiles: Object.fromEntries(
      Object.entries(profiles).filter((pair): pair is [string, Bag] => isBag(pair[1])),
    ),
  };
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readBounded(path, LARGEST_CONFIG) ?? '');
  } catch {
    return undefined;
  }
}

const isBag = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
