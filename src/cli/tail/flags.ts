import { usageError } from '../../base/failure.ts';
import { value, valueOr } from '../args/option.ts';
import { duration, file, integer, positiveDuration, time } from '../args/values.ts';
import type { TailFlags } from './run.ts';

/** The flags of every tail. */
export const tailOptions = {
  lag: valueOr('--lag', 'delay to aim at when polling: longer is cheaper', duration, 10_000, '10s'),
  backfill: value('--backfill', 'begin with the newest N', integer({ min: 1 })),
  since: value('--since', 'begin with what was posted since then', time),
  count: value('--count', 'end after N rows', integer({ min: 1 })),
  duration: value('--duration', 'end after this long', positiveDuration),
  checkpoint: value('--checkpoint', 'go on where the run that wrote this file stopped', file),
};

/** Checks what can't go together, before anything is asked. */
export function checkTail<F extends TailFlags>(flags: F): F {
  if (flags.backfill !== undefined && flags.since !== undefined) {
    throw usageError('--backfill and --since both say where to begin', 'give one of them');
  }
  if (flags.lag < 100) throw usageError('--lag is at least 100ms', 'a socket has the least delay: --via ws');
  return flags;
}
