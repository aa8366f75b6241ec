import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of the program under test, which the first test file that needs it builds. */
    readonly program: string;
  }
}

/** Gives the run its own build folder, so that builds elsewhere cannot change the program under test. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-built-'));
  const program = join(folder, 'program');
  mkdirSync(program);
  project.provide('program', program);
  return () => rmSync(folder, { recursive: true, force: true });
}
