import { systemClock } from '../src/base/clock.ts';
import { type DiskWait, FullDiskWait } from '../src/output/disk-wait.ts';

/** Does not wait for a full disk. */
export const noWait: DiskWait = new FullDiskWait(systemClock, AbortSignal.abort(), () => {});
