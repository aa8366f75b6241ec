import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Where the program under test is built, by the first test file that needs it. */
    readonly program: string;
  }
}

/** Gives the run a folder for the program under test: what others build meanwhile can't change it. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'trdr-built-'));
  project.provide('program', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
