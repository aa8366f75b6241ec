import * as z from 'zod/mini';
import { field } from '../field.ts';

const time = (text: string) => field(z.nullable(z.number()), `${text}, epoch ms.`);

/** The state of a tail, as read from its status file. */
export const TailStatusRecord = z.looseObject({
  state: field(
    z.enum(['healthy', 'starting', 'lagging', 'stale', 'stopped']),
    'State of the tail: healthy and starting give exit code 0, all others 9.',
  ),
  tail: field(z.string(), 'Name of the tail: the name of its status file without the extension.'),
  command: field(z.string(), 'The trdr command that started the tail, for example thesis tail.'),
  version: field(z.string(), 'Version of trdr that runs the tail.'),
  up: field(z.boolean(), 'Whether the tail is running.'),
  exitCode: field(z.nullable(z.int()), 'Exit code of the tail; null while it is running.'),
  endReason: field(
    z.nullable(z.string()),
    'Why the tail ended: done, the name of a signal, or the code of an error; null while it is running.',
  ),
  ready: field(z.boolean(), 'Whether the tail has been up to date with its feed at least once.'),
  serviceUp: field(z.boolean(), 'Whether the service responds.'),
  mode: field(
    z.string(),
    'How the tail follows the feed: streaming, connecting, polling, store, standby or waiting.',
  ),
  waitsUntil: time('When the budget or the allowance renews that the tail waits for'),
  startedAt: field(z.number(), 'When the tail was started, epoch ms.'),
  updatedAt: field(z.number(), 'When the status file was written, epoch ms.'),
  verifiedTo: time('Time up to which every post was delivered, except in gaps'),
  lastPostAt: time('Post time of the last delivered post'),
  lastPostLag: field(
    z.nullable(z.number()),
    'Milliseconds between the post time of the last post and its delivery.',
  ),
  rows: field(z.int(), 'Posts delivered.'),
  gaps: field(z.int(), 'Number of stretches of the feed that could not be read.'),
  reconnects: field(z.int(), 'Number of reconnects.'),
  spent: field(z.number(), 'CU that were certainly charged.'),
  spentAtMost: field(z.number(), 'Upper bound of the CU that were charged.'),
  handoff: field(
    z.nullable(
      z.looseObject({
        batches: field(z.int(), 'Batches that the command acknowledged.'),
        rows: field(z.int(), 'Posts that the command acknowledged.'),
        retries: field(z.int(), 'Retries: attempts to hand over a batch after the first attempt.'),
        deadBatches: field(z.int(), 'Batches moved to the dead-letter file.'),
        deadRows: field(z.int(), 'Posts moved to the dead-letter file.'),
        pendingRows: field(z.int(), 'Posts that were read and are not yet acknowledged.'),
        oldestAge: field(
          z.number(),
          'Age of the oldest pending post in milliseconds; 0 if no post is pending.',
        ),
        lastExit: field(
          z.nullable(z.int()),
          'Exit code of the last attempt; 128 plus the signal number if the command was killed.',
        ),
      }),
    ),
    'The handoff to the command of --exec; null without --exec.',
  ),
  updatedAgo: field(z.number(), 'Milliseconds since the status file was written.'),
  verifiedAgo: field(z.nullable(z.number()), 'Milliseconds since the feed was last verified to be complete.'),
});
export type TailStatusRecord = z.infer<typeof TailStatusRecord>;
