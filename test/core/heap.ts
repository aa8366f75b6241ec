import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes of the heap that are really held: what is only waiting to be collected is not counted. */
export function heldBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
