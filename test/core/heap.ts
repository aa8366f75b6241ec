import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The bytes of heap memory in use after a garbage collection. */
export function heldBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
