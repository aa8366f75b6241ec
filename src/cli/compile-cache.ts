import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { ensureFolder } from '../base/files.ts';
import { foldersOf, homeOf, workingFolder } from '../state/paths.ts';

type Require = (name: string) => unknown;

/**
 * Loads the program with the code that an earlier run compiled, because compiling takes longer than
 * running. Newer versions of Node have this built in; for Node 20, this does the same. `digest` identifies
 * the build.
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
 * A `require` that uses compiled code from `place`, and saves there what it had to compile itself. The
 * folder belongs to one build and one version of Node: V8 rejects code of another V8, but it recognizes the
 * source only by its length.
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

  // At exit, so that it includes the functions that the run compiled.
  process.once('exit', () => keep(place, fresh));
  return find;
}

/** Best effort: a run without cached code is only slower. */
function keep(place: string, fresh: readonly Fresh[]): void {
  if (fresh.length === 0) return;
  try {
    ensureFolder(place);
    for (const { path, script } of fresh) {
      // Renamed into place, so that no other process reads a partial file.
      const half = `${path}.${process.pid}`;
      writeFileSync(half, script.createCachedData(), { mode: 0o600 });
      renameSync(half, path);
    }
    forgetOthers(place);
  } catch {}
}

const UNUSED_MS = 30 * 86_400_000;

/**
 * Removes the compiled code of old builds. A build that is still in use compiles again, which slows one
 * run.
 */
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
