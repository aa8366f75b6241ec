import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { quietly } from '../base/calls.ts';
import { ensureFolder } from '../base/files.ts';
import { foldersOf, homeOf, workingFolder } from '../state/paths.ts';

type Require = (name: string) => unknown;

/**
 * Returns a `require` that uses the code that earlier runs compiled. `digest` identifies the build.
 */
export function openProgram(folder: string, digest: string, within: Require): Require {
  const { env, platform, version, arch } = process;
  // Load `os` only if needed: most environments have a variable with the home directory.
  const home = homeOf(env, platform, () => process.getBuiltinModule('node:os').homedir());
  const { cache } = foldersOf({ env, platform, home, cwd: workingFolder(env) });
  if (cache === undefined || env['NODE_DISABLE_COMPILE_CACHE']) return within;
  // Each build needs a folder of its own, because V8 does not detect a changed source of the same
  // length.
  const place = join(cache, 'code', `${digest}-${version}-${arch}`);
  const made = new Map<string, { exports: unknown }>();
  const loaded = new Map<string, Script>();
  let isComplete = true;

  function find(name: string): unknown {
    if (!name.startsWith('./')) return within(name);
    const known = made.get(name);
    if (known) return known.exports;
    const filename = join(folder, name);
    const path = join(place, name);
    const cachedData = quietly(() => readFileSync(path));
    // Latin-1 is enough, because the files contain only ASCII.
    const text = `(function(exports,require,module){${readFileSync(filename, 'latin1')}\n})`;
    const script = new Script(text, { filename, ...(cachedData && { cachedData }) });
    if (!cachedData || script.cachedDataRejected) isComplete = false;
    loaded.set(path, script);
    const module = { exports: {} };
    made.set(name, module);
    script.runInThisContext()(module.exports, find, module);
    return module.exports;
  }

  // Save at exit, with everything that was compiled. A failed run may lack functions; an
  // interrupted one is not failed.
  process.once('exit', (code) => {
    if (!isComplete && (code === 0 || code >= 128)) quietly(() => save(place, loaded));
  });
  return find;
}

/** Saves known files again too, because this run may have compiled more of them. */
function save(place: string, loaded: ReadonlyMap<string, Script>): void {
  ensureFolder(place);
  for (const [path, script] of loaded) {
    // Write to a temporary file and rename it, so that no other process reads an incomplete file.
    const half = `${path}.${process.pid}`;
    writeFileSync(half, script.createCachedData(), { mode: 0o600 });
    renameSync(half, path);
  }
  // If another build or version of Node is still in use, its next run compiles the code again.
  for (const name of readdirSync(dirname(place))) {
    const path = join(dirname(place), name);
    if (path !== place && Date.now() - statSync(path).mtimeMs > UNUSED_MS)
      rmSync(path, { recursive: true });
  }
}

const UNUSED_MS = 30 * 86_400_000;
