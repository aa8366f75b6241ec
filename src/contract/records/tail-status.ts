import * as z from 'zod/mini';
import { field } from '../field.ts';

const time = (text: string) => field(z.nullable(z.number()), `${text}, epoch ms.`);

/** The state of a tail, from its status file. */
export const TailStatusRecord = z.looseObject({
  state: field(
    z.enum(['healthy', 'starting', 'lagging', 'stale', 'stopped']),
    'Verdict: healthy and starting exit 0, the others 9.',
  ),
  tail: field(z.string(), 'Name of the tail: its status file without the extension.'),
  command: field(z.string(), 'The command that writes the file.'),
  version: field(z.string(), 'Version of trdr that writes the file.'),
  up: field(z.boolean(), 'The run has not ended.'),
  ready: field(z.boolean(), 'The tail has caught up with its feed once.'),
  serviceUp: field(z.boolean(), 'The service answers.'),
  mode: field(
    z.string(),
    'How it follows the feed: streaming, connecting, polling, store, standby or waiting.',
  ),
  startedAt: field(z.number(), 'When it was started, epoch ms.'),
  updatedAt: field(z.number(), 'When the file was written, epoch ms.'),
  verifiedTo: time('Everything posted before is delivered, except in gaps'),
  lastPostAt: time('Post time of the last post delivered'),
  lastPostLag: field(z.nullable(z.number()), 'Milliseconds from its post time to its delivery.'),
  rows: field(z.int(), 'Posts delivered.'),
  gaps: field(z.int(), 'Stretches of the feed that could not be read.'),
  reconnects: field(z.int(), 'Connections after the first one.'),
  spent: field(z.number(), 'CU charged for certain.'),
  spentAtMost: field(z.number(), 'Upper bound of the CU charged.'),
  handoff: field(
    z.nullable(
      z.looseObject({
        batches: field(z.int(), 'Batches that the command acknowledged.'),
        rows: field(z.int(), 'Posts that the command acknowledged.'),
        retries: field(z.int(), 'Attempts after the first one of a batch.'),
        deadBatches: field(z.int(), 'Batches moved to the dead-letter file.'),
        deadRows: field(z.int(), 'Posts moved to the dead-letter file.'),
        pendingRows: field(z.int(), 'Posts that were read and are not yet acknowledged.'),
        oldestAge: field(z.number(), 'Age of the oldest of them in milliseconds; 0 if there is none.'),
        lastExit: field(
          z.nullable(z.int()),
          'Exit code of the last attempt; 128 and the signal if it was killed.',
        ),
      }),
    ),
    'The handoff to the command of --exec; null without one.',
  ),
  updatedAgo: field(z.number(), 'Milliseconds since the file was written.'),
  verifiedAgo: field(z.nullable(z.number()), 'Milliseconds since the feed was last verified.'),
});
export type TailStatusRecord = z.infer<typeof TailStatusRecord>;
