import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { isRecord, parseObject, textOf } from '../../base/json-object.ts';
import { trimText } from '../../base/trim-text.ts';
import { baseUrl } from '../../base/url-values.ts';
import { bareHandle } from '../../contract/handles.ts';
import { openCache } from '../../state/cache.ts';
import { foldersOf, homeOf } from '../../state/paths.ts';
import type { Io } from '../io.ts';
import { completeLine } from './completion/candidates.ts';
import type { Outline } from './completion/outline.ts';

const MAX_HANDLES = 200;

type CompletionPlace = Pick<Io, 'env' | 'cwd'> & { readonly platform: string };

/** Answers `words WORD...` or `line LINE`, up to the cursor; `:files` and `:nospace` are for the shell. */
export function answerShell(
  request: readonly string[],
  outline: Outline,
  place: CompletionPlace,
): string {
  const [form, ...rest] = request;
  const line = form === 'line' ? (rest[0] ?? '') : rest;
  const { candidates, directive } = completeLine(outline, line, (kind, prefix, context) =>
    kind === 'profile' ? profileNames(prefix, place) : knownHandles(prefix, context, place),
  );
  const lines = candidates.map(({ word, about }) => (about === '' ? word : `${word}\t${about}`));
  return [...lines, ...(directive ? [`:${directive}`] : [])].map((line) => `${line}\n`).join('');
}

const foldersAt = ({ env, platform, cwd }: CompletionPlace) =>
  foldersOf({ env, platform, home: homeOf(env, platform, homedir), cwd });

const profileNames = (prefix: string, place: CompletionPlace): string[] =>
  Object.keys(readConfig(foldersAt(place).config).profiles).filter((name) =>
    name.startsWith(prefix),
  );

/** Handles that were recently found with the base URL and key that the command line would use. */
function knownHandles(
  prefix: string,
  { profile, sandbox }: { readonly profile: string | undefined; readonly sandbox: boolean },
  place: CompletionPlace,
): string[] {
  const { config, cache } = foldersAt(place);
  const scope = sandbox
    ? { baseUrl: 'sandbox:', key: 'sandbox', dir: cache && join(cache, 'sandbox') }
    : { ...service(config, profile, place.env), dir: cache };
  const handles = openCache({ ...scope, now: Date.now }).listHandles(prefix, MAX_HANDLES);
  // The shell offers only what begins with the text that was typed.
  const typed = prefix.slice(0, prefix.length - bareHandle(prefix).length);
  return handles.map((handle) => `${typed}${handle}`);
}

/** The base URL and key that the command line would use: from the environment, or from the profile. */
function service(folder: string | undefined, named: string | undefined, env: Io['env']) {
  const { current, profiles } = readConfig(folder);
  const saved = profiles[named ?? (env['TRDR_PROFILE'] || current)];
  const profile = isRecord(saved) ? saved : {};
  const url = baseUrl.read(env['TRDR_BASE_URL'] || (textOf(profile['baseUrl']) ?? ''));
  return {
    baseUrl: url ?? '',
    key: trimText(env['TRDR_API_KEY'] ?? '') || (textOf(profile['key']) ?? ''),
  };
}

/** Without its schema, because loading it takes too long for a key press. An unreadable file counts as empty. */
function readConfig(folder: string | undefined) {
  const text = folder && quietly(() => readFileSync(join(folder, 'config.json'), 'utf8'));
  const { current, profiles } = parseObject(text ?? '') ?? {};
  return { current: textOf(current) || 'default', profiles: isRecord(profiles) ? profiles : {} };
}
