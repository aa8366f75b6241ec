import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunAnswers } from '../contract/ports/answers.ts';
import { readValues, writeValues } from './answer-files.ts';

/**
 * Keeps the answers of a run that do not fit in memory, in a private temporary folder that is
 * created with the first answer.
 */
export class TemporaryAnswers implements RunAnswers {
  #folder: string | undefined;

  get(key: string): unknown {
    return this.#folder && readValues(this.#folder, key)?.[0];
  }

  put(key: string, answer: unknown): boolean {
    try {
      this.#folder ??= mkdtempSync(join(tmpdir(), 'trdr-'));
      writeValues(this.#folder, key, [answer]);
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
