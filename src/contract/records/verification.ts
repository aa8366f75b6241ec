import * as z from 'zod/mini';
import { field, float, floatOrNull, int, string } from '../field.ts';

const statuses = ['complete', 'not verified yet', 'gaps', 'no certificate', 'changed'] as const;
const status = (about: string) =>
  field(
    z.enum(statuses),
    `${about} "not verified yet" means that nothing of it is proved yet; only "complete" exits 0.`,
  );
const from = floatOrNull(
  'First post time of the verified stretch, epoch ms; null if nothing is verified.',
);
const to = floatOrNull('Last post time of the verified stretch, epoch ms.');
const gaps = (about: string) =>
  field(
    z.array(
      z.object({
        from: float('First post time of the gap, epoch ms.'),
        to: float('Last post time of the gap, epoch ms.'),
        why: string('Why posts may be missing.'),
      }),
    ),
    about,
  );

const VerifiedFile = z.looseObject({
  file: string('The file.'),
  status: status('Result of this file. A gap that another file fills does not count.'),
  from,
  to,
  rows: int('Posts in the file, including those that are not verified yet.'),
  duplicates: int('Posts that the file contains more than once.'),
  gaps: gaps('Gaps of the file that no other file fills.'),
});
export type VerifiedFile = z.infer<typeof VerifiedFile>;

export const Verification = z.looseObject({
  status: status('The worst result of the files; gaps also if there are gaps between them.'),
  from,
  to,
  rows: int('Posts in all files.'),
  readAt: floatOrNull(
    'When trdr last read the feed completely, by the clock of that machine, epoch ms; null if not known.',
  ),
  gaps: gaps('Gaps that no file fills.'),
  files: field(z.array(VerifiedFile), 'The files, in the given order.'),
});
export type Verification = z.infer<typeof Verification>;
