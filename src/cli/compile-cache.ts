import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { ensureFolder } from '../base/files.ts';
import { foldersOf, homeOf, workingFolder } from '../state/paths.ts';

type Require = (name: string) => unknown;

/**
 * Loads the program's files with the code that an earlier run compiled: compiling takes longer than
 * running does. Newer Nodes can do that themselves; for Node 20 it is done here, the same way. `digest`
 * tells one build from another.
 */
export function openProgram(folder: string, digest: string): Require {
  const { env, platform } = process;
  const within = createRequire(join(folder, 'main.cjs'));
  const home = homeOf(env, platform, homedir);
  const { cache } = foldersOf({ env, platform, home, cwd: workingFolder(env) });
  if (cache === undefined || env['NODE_DISABLE_COMPILE_CACHE']) return within;
  const place = join(cache, 'code');
  const { enableCompileCache }: { enableCompileCache?: (folder: string) => void } = within('node:module');
  if (enableCompileCache === undefined) {
    return cachedRequire(folder, join(place, `${digest}-${process.version}-${process.arch}`), within);
  }
  enableCompileCache(place);
  return within;
}

interface Fresh {
  readonly path: string;
  readonly script: Script;
}

/**
 * A `require` that takes compiled code from `place`, and puts there what it had to compile itself. The
 * place is for one build and one Node: V8 turns down the code of another V8, but of a source it knows
 * the length alone.
 */
export function cachedRequire(folder: string, place: string, within: Require): Require {
  const made = new Map<string, { exports: unknown }>();
  const fresh: Fresh[] = [];

  function load(name: string): unknown {
    const known = made.get(name);
    if (known) return known.exports;
    const filename = join(folder, name);
    const path = join(place, name);
    const cachedData = readIfThere(path);
    const text = `(function(exports,require,module){${readFileSync(filename, 'utf8')}\n})`;
    const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected) fresh.push({ path, script });
    const module = { exports: {} };
    made.set(name, module);
    script.runInThisContext()(module.exports, find, module);
    return module.exports;
  }
  const find: Require = (name) => (name.startsWith('./') ? load(name.slice(2)) : within(name));

  // At the end, so that the functions which the run compiled are among it.
  process.once('exit', () => keep(place, fresh));
  return find;
}

/** Best effort: a run without cached code is only slower. */
function keep(place: string, fresh: readonly Fresh[]): void {
  if (fresh.length === 0) return;
  try {
    ensureFolder(place);
    for (const { path, script } of fresh) {
      // Rename into place, so that no other process reads half a file.
      const half = `${path}.${process.pid}`;
      writeFileSync(half, script.createCachedData(), { mode: 0o600 });
      renameSync(half, path);
    }
    forgetOthers(place);
  } catch {}
}

const UNUSED_MS = 30 * 86_400_000;

/** Removes the cached code of old builds. A build that is still in use compiles its code again, which slows one run. */
function forgetOthers(place: string): void {
  for (const name of readdirSync(dirname(place))) {
    const path = join(dirname(place), name);
    if (path !== place && Date.now() - statSync(path).mtimeMs > UNUSED_MS) rmSync(path, { recursive: true });
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
