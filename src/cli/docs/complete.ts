import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { isRecord, parseObject, textOf } from '../../base/json-object.ts';
import { bareHandle } from '../../contract/handles.ts';
import { type ConfigFile, emptyConfig, type Profile } from '../../state/config/profile.ts';
import { resolveSettings } from '../../state/config/resolve-settings.ts';
import { keyFolder } from '../../state/key-folder.ts';
import { listHandles } from '../../state/known-handles.ts';
import { foldersOf, homeOf } from '../../state/paths.ts';
import type { Io } from '../io.ts';
import { completeLine } from './completion/candidates.ts';
import type { Outline } from './completion/outline.ts';

const MAX_HANDLES = 200;

type CompletionPlace = Pick<Io, 'env' | 'cwd'> & { readonly platform: string };

/**
 * Answers `words WORD...` or `line LINE`, up to the cursor; `:files` and `:nospace` are for the
 * shell.
 */
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
  Object.keys(savedConfig(foldersAt(place).config).profiles).filter((name) =>
    name.startsWith(prefix),
  );

/** Handles that were recently found with the base URL and key that the command line would use. */
function knownHandles(
  prefix: string,
  { profile, sandbox }: { readonly profile: string | undefined; readonly sandbox: boolean },
  place: CompletionPlace,
): string[] {
  const { config, state } = foldersAt(place);
  const scope = sandbox
    ? { baseUrl: 'sandbox:', key: 'sandbox', dir: state && join(state, 'sandbox') }
    : { ...service(config, profile, place.env), dir: state };
  if (scope.dir === undefined) return [];
  const folder = keyFolder(scope.dir, 'people', scope.baseUrl, scope.key);
  const handles = listHandles(folder, prefix, MAX_HANDLES);
  // The shell offers only what begins with the text that was typed.
  const typed = prefix.slice(0, prefix.length - bareHandle(prefix).length);
  return handles.map((handle) => `${typed}${handle}`);
}

/** The base URL and key that the command line would use. What cannot be read counts as not set. */
function service(folder: string | undefined, profile: string | undefined, env: Io['env']) {
  const { baseUrl, key } = resolveSettings({
    flags: { profile },
    env,
    file: savedConfig(folder),
    newProfile: true,
    tolerant: true,
  });
  return { baseUrl: baseUrl.value ?? '', key: key.value ?? '' };
}

/**
 * The schema is left out, because loading it takes too long for a key press. An unreadable file
 * counts as empty.
 */
function savedConfig(folder: string | undefined): ConfigFile {
  const text = folder && quietly(() => readFileSync(join(folder, 'config.json'), 'utf8'));
  const { current, profiles } = parseObject(text ?? '') ?? {};
  const saved = Object.entries(isRecord(profiles) ? profiles : {});
  return {
    ...emptyConfig,
    current: textOf(current) || undefined,
    profiles: Object.fromEntries(
      saved.filter((entry): entry is [string, Profile] => isRecord(entry[1])),
    ),
  };
}
