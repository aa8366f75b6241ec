import { integer } from '../../base/amounts.ts';
import { duration, positiveDuration } from '../../base/durations.ts';
import { usageError } from '../../base/failure.ts';
import { didYouMean } from '../../base/suggest.ts';
import { time } from '../../base/times.ts';
import { oneOf } from '../../base/values.ts';
import type { View } from '../../output/view.ts';
import { confluenceView } from '../../output/views/thesis.ts';
import type { ConfluenceRule } from '../../tail/confluence.ts';
import type { CooldownRule } from '../../tail/cooldown.ts';
import { rotateRule } from '../../tail/file/rotation.ts';
import { excluding, flag, type GivenFlags, inGroup, list, value, valueOr } from '../args/option.ts';
import { checkpointFile, file, statusFile, text, type Value } from '../args/values.ts';
import type { Argument } from '../command.ts';

/** A speed such as `10x`. */
export const speed: Value<number> = {
  name: 'factor',
  noun: 'speed',
  hint: 'write it as 10x',
  read(typed) {
    const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(typed)?.[1]);
    return factor > 0 ? factor : undefined;
  },
};

const confluenceRule: Value<ConfluenceRule> = {
  name: 'n/duration',
  noun: 'number of authors and duration',
  hint: 'write it as 3/10m: three authors within ten minutes',
  read(typed) {
    const [, count, time = ''] = /^(\d+)\/(.+)$/.exec(typed) ?? [];
    const [authors, withinMs] = [Number(count), positiveDuration.read(time)];
    return authors >= 2 && authors <= 100 && withinMs !== undefined && withinMs <= WITHIN_MAX_MS
      ? { authors, withinMs }
      : undefined;
  },
};
const WITHIN_MAX_MS = 24 * 3_600_000;

const cooldownRule: Value<CooldownRule> = {
  name: 'field/duration',
  noun: 'field and duration',
  hint: 'write it as tokenAddress/1h: at most one post about each token in an hour',
  read(typed) {
    const [, field, time = ''] = /^(\w+)\/(.+)$/.exec(typed) ?? [];
    const withinMs = positiveDuration.read(time);
    return field !== undefined && withinMs !== undefined && withinMs <= COOLDOWN_MAX_MS
      ? { field, withinMs }
      : undefined;
  },
};
const COOLDOWN_MAX_MS = 7 * WITHIN_MAX_MS;

/** The flags of every run that follows a feed. */
export const serviceOptions = {
  status: value('--status', 'write the state to FILE as metrics for Prometheus', statusFile),
  heartbeat: value('--heartbeat', 'report the state on stderr this often', positiveDuration),
  logFormat: valueOr(
    '--log-format',
    'format of the lines on stderr',
    oneOf('text', 'json'),
    'text',
  ),
};

export type ServiceFlags = Omit<GivenFlags<typeof serviceOptions>, 'logFormat'>;

/** The flags of a tail whose feed is also in the store. */
export const storeOptions = {
  ...inGroup('Cost and delay', {
    via: valueOr('--via', 'how to follow the feed', oneOf('auto', 'ws', 'poll', 'store'), 'auto'),
    fill: flag('--fill', 'ask the service for posts that the store no longer has'),
  }),
};

/** The flags of every tail. */
export const tailOptions = {
  ...inGroup('Start and end', {
    backfill: excluding(
      value('--backfill', 'start with the last N posts, before filters', integer({ min: 1 })),
      '--since',
    ),
    since: value('--since', 'start with posts since this time', time),
    count: value('--count', 'stop after N posts', integer({ min: 1 })),
    noFollow: flag('--no-follow', 'print what is new up to now, and stop (polls)'),
    duration: value('--duration', 'stop after this length of time', positiveDuration),
    checkpoint: value(
      '--checkpoint',
      'checkpoint file to resume from; updated during the run',
      checkpointFile,
    ),
  }),
  ...inGroup('Where to put the posts', {
    rotate: value('--rotate', 'begin a new --out file at this size or interval', rotateRule),
    exec: value(
      '--exec',
      'run CMD in a shell for each batch, with its posts on stdin',
      text('cmd'),
    ),
    batch: value(
      '--batch',
      'with --exec: maximum number of posts per batch',
      integer({ min: 1, max: 10_000 }),
      '100',
    ),
    linger: value('--linger', 'with --exec: how long a batch waits for more posts', duration, '1s'),
    tries: value(
      '--tries',
      'with --exec: attempts per batch; 0 for no limit',
      integer({ min: 0 }),
      '10',
    ),
  }),
  ...inGroup('Cost and delay', {
    lag: value('--lag', 'target delay when polling; a longer delay costs less', duration, '10s'),
    waitForBudget: flag('--wait-for-budget', 'sleep until a used-up budget or allowance renews'),
  }),
  ...inGroup('What to read', {
    confluence: excluding(
      value('--confluence', 'print when N authors post about a token within D', confluenceRule),
      '--rotate',
      '--backfill',
    ),
    cooldown: excluding(
      value('--cooldown', 'print one post in D for each value of FIELD', cooldownRule),
      '--rotate',
    ),
    replay: list('--replay', 'read posts from files in place of the service, for 0 CU', file),
    speed: value('--speed', 'with --replay: keep the distances of the posts in time', speed),
  }),
  ...inGroup('As a service', serviceOptions),
};

/** The delay of polls if `--lag` is not given. */
const LAG_MS = 10_000;

type GivenTail = Omit<GivenFlags<typeof tailOptions>, 'logFormat'>;
export interface TailFlags extends Omit<GivenTail, 'lag'> {
  readonly lag: number;
  /** Whether `--lag` was given: then, posts need not be printed sooner. */
  readonly isLagGiven: boolean;
}

/** A shell may expand the value of --replay to several words. */
export const replayArgument: Argument = {
  name: 'file',
  help: 'with --replay: further files',
  optional: true,
  variadic: true,
  complete: 'file',
};

/** Adds the words of the command line to the files of --replay. */
export function withFiles<F extends Pick<TailFlags, 'replay'>>(
  words: readonly string[],
  flags: F,
): F {
  if (words.length > 0 && flags.replay.length === 0)
    throw usageError(
      'arguments require --replay',
      'name the files after --replay, and an author with --user NAME',
    );
  return { ...flags, replay: [...flags.replay, ...words] };
}

/** Throws for flags that are invalid, before any request is sent. */
export function checkTail<F extends GivenTail>(
  flags: F,
  posts: Pick<View<never>, 'fields'>,
): Omit<F, 'lag'> & Pick<TailFlags, 'lag' | 'isLagGiven'> {
  const { lag = LAG_MS } = flags;
  if (lag < 100) throw usageError('--lag must be at least 100ms', 'use --lag 100ms or more');
  const { exec, batch, linger, tries } = flags;
  const alone = { batch, linger, tries };
  const [name] = Object.entries(alone).find(([, value]) => value !== undefined) ?? [];
  if (exec === undefined && name !== undefined)
    throw usageError(`--${name} requires --exec`, 'add --exec CMD');
  if (flags.cooldown) checkField(flags.cooldown, flags.confluence ? confluenceView : posts);
  return { ...flags, lag, isLagGiven: flags.lag !== undefined };
}

/** A field that the records do not have would never hold anything back. */
function checkField({ field }: CooldownRule, view: Pick<View<never>, 'fields'>): void {
  const fields = view.fields();
  if (fields.includes(field)) return;
  const hint = didYouMean(field, fields) || `choose from ${fields.join(', ')}`;
  throw usageError(`unknown field "${field}" for --cooldown`, hint);
}
