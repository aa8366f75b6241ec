import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';

/** What is kept for a key, and the version of its form. */
const forms = { people: 1, answers: 3 } as const;

export type KeptKind = keyof typeof forms;

/**
 * The folder of what is kept for a base URL and key. It is a file of its own, because completion
 * needs no more.
 */
export const keyFolder = (dir: string, kind: KeptKind, baseUrl: string, key: string): string =>
  join(dir, kind, sha256(`trdr ${kind} ${forms[kind]}\n${baseUrl}\n${key}`).slice(0, 32));
