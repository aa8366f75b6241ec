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
  mode: field(z.string(), 'How it follows the feed: streaming, connecting, polling, store or waiting.'),
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
  updatedAgo: field(z.number(), 'Milliseconds since the file was written.'),
  verifiedAgo: field(z.nullable(z.number()), 'Milliseconds since the feed was last verified.'),
});
export type TailStatusRecord = z.infer<typeof TailStatusRecord>;
