import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunAnswers } from '../contract/ports/answers.ts';
import { readValues, writeValues } from './answer-files.ts';

/**
 * Keeps the answers of a run that do not fit in memory, in a private temporary folder that is
 * created with the first answer.
 */
export function openRunAnswers(): RunAnswers {
  let folder: string | undefined;
  return {
    get: (key) => folder && readValues(folder, key)?.[0],
    put(key, answer) {
      try {
        folder ??= mkdtempSync(join(tmpdir(), 'trdr-'));
        writeValues(folder, key, [answer]);
        return true;
      } catch {
        return false;
      }
    },
    async close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
