import { usageError } from '../../base/failure.ts';
import { duration, positiveDuration, time } from '../../base/time-values.ts';
import { integer } from '../../base/values.ts';
import { excluding, flag, type GivenFlags, inGroup, value, valueOr } from '../args/option.ts';
import { checkpointFile, text } from '../args/values.ts';
import { rotateRule } from './output/rotation.ts';
import { serviceOptions } from './service/flags.ts';

/** The flags of every tail. */
export const tailOptions = {
  ...inGroup('Start and end', {
    backfill: excluding(value('--backfill', 'start with the last N posts', integer({ min: 1 })), '--since'),
    since: value('--since', 'start with posts since this time', time),
    count: value('--count', 'stop after N posts', integer({ min: 1 })),
    noFollow: flag('--no-follow', 'stop when all posts up to now are printed (polls only)'),
    duration: value('--duration', 'stop after this length of time', positiveDuration),
    checkpoint: value(
      '--checkpoint',
      'checkpoint file to resume from; updated during the run',
      checkpointFile,
    ),
  }),
  ...inGroup('Where to put the posts', {
    rotate: value('--rotate', 'begin a new --out file at this size or interval', rotateRule),
    exec: value('--exec', 'run CMD in a shell for each batch, with its posts on stdin', text('cmd')),
    batch: value(
      '--batch',
      'with --exec: maximum number of posts per batch',
      integer({ min: 1, max: 10_000 }),
      '100',
    ),
    linger: value('--linger', 'with --exec: how long a batch waits for more posts', duration, '1s'),
    tries: value('--tries', 'with --exec: attempts per batch; 0 for no limit', integer({ min: 0 }), '10'),
  }),
  ...inGroup('Cost and delay', {
    lag: valueOr('--lag', 'target delay when polling; a longer delay costs less', duration, 10_000, '10s'),
    waitForBudget: flag('--wait-for-budget', 'sleep until a used-up budget or allowance renews'),
  }),
  ...inGroup('As a service', serviceOptions),
};

export type TailFlags = Omit<GivenFlags<typeof tailOptions>, 'logFormat'>;
export type ExecFlags = Pick<TailFlags, 'exec' | 'batch' | 'linger' | 'tries'>;

/** Throws for flags that are invalid or cannot be combined, before any request is sent. */
export function checkTail<F extends TailFlags>(flags: F): F {
  if (flags.lag < 100) throw usageError('--lag must be at least 100ms', 'use --lag 100ms or more');
  const { exec, batch, linger, tries } = flags;
  const alone = { batch, linger, tries };
  const [name] = Object.entries(alone).find(([, given]) => given !== undefined) ?? [];
  if (exec === undefined && name !== undefined)
    throw usageError(`--${name} requires --exec`, 'add --exec CMD');
  return flags;
}
