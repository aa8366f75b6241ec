import { usageError } from '../../base/failure.ts';
import { value, valueOr } from '../args/option.ts';
import { duration, file, integer, positiveDuration, time } from '../args/values.ts';
import type { TailFlags } from './run.ts';
import { serviceOptions } from './service/flags.ts';

/** The flags of every tail. */
export const tailOptions = {
  lag: valueOr('--lag', 'target delay when polling; longer is cheaper', duration, 10_000, '10s'),
  backfill: value('--backfill', 'start with the last N posts', integer({ min: 1 })),
  since: value('--since', 'start with posts since this time', time),
  count: value('--count', 'stop after N rows', integer({ min: 1 })),
  duration: value('--duration', 'stop after this time', positiveDuration),
  checkpoint: value('--checkpoint', 'resume from this checkpoint file', file),
  ...serviceOptions,
};

/** Checks combinations of flags, before any request. */
export function checkTail<F extends TailFlags>(flags: F): F {
  if (flags.backfill !== undefined && flags.since !== undefined) {
    throw usageError('--backfill and --since cannot be combined', 'use one of them');
  }
  if (flags.lag < 100)
    throw usageError('--lag must be at least 100ms', 'the WebSocket has the least delay: --via ws');
  return flags;
}
