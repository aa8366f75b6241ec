import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunAnswers } from '../contract/answer-ports.ts';
import { readValues, writeValues } from './answer-file.ts';

/** A private temporary folder, created with the first answer. */
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
