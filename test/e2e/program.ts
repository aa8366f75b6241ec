import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import { inject } from 'vitest';
import './build.ts';

const root = join(import.meta.dirname, '../..');
const parts = ['bin', 'dist', 'completions', 'package.json'];

/** The built program's start script. */
export const program: string = join(inject('program'), 'bin/trdr.js');
/** The folder of the code that the program compiled in earlier tests of this run. */
export const compiledCode: string = join(inject('program'), '../code');

const age = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A text that changes whenever a built file changes. */
const stampOf = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => `${name} ${age(join(folder, name))}`)
        .join('\n')
    : '';

/** Whether a source is newer than the build. */
function isStale(): boolean {
  const built = age(join(root, 'dist/help/trdr.txt'));
  const under = (folder: string) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(folder, name),
    );
  return [...under('src'), ...under('.tools'), 'package.json'].some(
    (path) => age(join(root, path)) > built,
  );
}

/** Uses dist if it is complete and up to date, else builds. */
async function build(folder: string): Promise<void> {
  if (!isStale()) {
    const before = stampOf(join(root, 'dist'));
    try {
      for (const part of parts) cpSync(join(root, part), join(folder, part), { recursive: true });
      if (stampOf(join(root, 'dist')) === before) return;
    } catch {
      // Ignore the error: another process is building the program.
    }
  }
  for (const part of ['bin', 'completions', 'package.json', 'src', '.tools']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await execa(process.execPath, [join(folder, '.tools/build.mjs')], { cwd: folder });
  // The published package does not have these folders, so the program must run without them.
  for (const part of ['src', '.tools', 'node_modules'])
    rmSync(join(folder, part), { recursive: true });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Builds the program once for all test files of a run; all but the first wait for the build. */
async function ensureBuilt(): Promise<void> {
  const folder = inject('program');
  const building = join(folder, '.building');
  const done = join(folder, '.done');
  const failed = join(folder, '.failed');
  try {
    symlinkSync(`${process.pid}`, building);
  } catch {
    const builder = Number(readlinkSync(building));
    while (!existsSync(done) && !existsSync(failed) && isRunning(builder)) await delay(50);
    if (!existsSync(done)) throw new Error('the program cannot be built');
    return;
  }
  try {
    await build(folder);
    writeFileSync(done, '');
  } catch (error) {
    writeFileSync(failed, '');
    throw error;
  }
}

// Files share the modules of their worker, so a hook here would belong to the first file only.
await ensureBuilt();
mkdirSync(compiledCode, { recursive: true, mode: 0o700 });
