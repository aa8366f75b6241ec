import { join } from 'node:path';
import { sha256 } from '../../base/sha256.ts';

/**
 * The folder of the people who were read with a base URL and key. It is a file of its own, because
 * completion needs no more.
 */
export const bookFolder = (stateFolder: string, baseUrl: string, key: string): string =>
  join(stateFolder, 'people', sha256(`trdr people 1\n${baseUrl}\n${key}`).slice(0, 32));
