import { systemClock } from '../src/base/clock.ts';
import { createDiskWait, type DiskWait } from '../src/output/disk-wait.ts';

/** Does not wait for a full disk. */
export const noWait: DiskWait = createDiskWait(systemClock, AbortSignal.abort(), () => {});
