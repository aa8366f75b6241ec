import * as z from 'zod/mini';
import { field, float, floatOrNull, int, intOrNull, string, stringOrNull } from '../field.ts';
import { tailModes } from '../tail-modes.ts';

/** What a tail does now, or how it ended. */
const tailStates = [...tailModes, 'ended', 'killed'] as const;

export const TailRunRecord = z.looseObject({
  command: string('The command, such as thesis tail.'),
  output: string(
    'Absolute path of the output file; otherwise command (that gets the rows), store (of a relay) or stdout.',
  ),
  feed: string('What it follows.'),
  state: field(
    z.enum(tailStates),
    'What it does now, as in its status file; ended; or killed: its process is gone without a word.',
  ),
  words: string('The state in words, as in the heartbeat of the run.'),
  verifiedAt: floatOrNull(
    'Post time up to which the feed is complete except for gaps, epoch ms; null if not known.',
  ),
  postsPerHour: floatOrNull(
    'Posts per hour that passed the filters: in the last hour, or since the start; null at first.',
  ),
  rows: int('Posts that passed the filters in this run, with those that a cooldown held back.'),
  cuToday: float(
    'CU at most that the tail has cost in this UTC day, with earlier runs of its command line.',
  ),
  left: floatOrNull(
    'CU left in the tightest of its budgets and its own limit; null without a limit.',
  ),
  leftOf: stringOrNull('That budget, such as day or month; run for the limit of the run.'),
  pid: int('Id of the process.'),
  profile: string('Name of the profile.'),
  startedAt: int('When the run began, epoch ms.'),
  updatedAt: int(
    'When the run last noted its state, epoch ms; a living tail does it every 10 seconds.',
  ),
  endedAt: intOrNull('When the run ended, or was last seen, epoch ms; null while it runs.'),
  exit: intOrNull('Exit code; null while it runs and if it was killed.'),
  reason: stringOrNull('Why it ended, in one word: done, a signal or the code of an error.'),
});
export type TailRunRecord = z.infer<typeof TailRunRecord>;
