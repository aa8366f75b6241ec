import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunAnswers } from '../contract/ports/answers.ts';
import { KeyedLog } from './keyed-log.ts';

/**
 * Keeps the answers of a run that do not fit in memory, in a private temporary folder that is
 * created with the first answer. No other process knows the folder, so it needs no lock.
 */
export class TemporaryAnswers implements RunAnswers {
  #folder: string | undefined;
  #log: KeyedLog | undefined;

  get(key: string): unknown {
    return this.#log?.read([key], ([answer]) => answer).get(key);
  }

  put(key: string, answer: unknown): boolean {
    try {
      this.#folder ??= mkdtempSync(join(tmpdir(), 'trdr-'));
      this.#log ??= new KeyedLog(this.#folder);
      this.#log.append(new Map([[key, [answer]]]));
      return true;
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}
