import * as z from 'zod/mini';
import { field } from '../field.ts';

const status = z.enum(['complete', 'gaps', 'no certificate', 'changed']);
const from = field(
  z.nullable(z.number()),
  'First post time of the verified stretch, epoch ms; null if nothing is verified.',
);
const to = field(z.nullable(z.number()), 'Last post time of the verified stretch, epoch ms.');
const gaps = (text: string) =>
  field(
    z.array(
      z.object({
        from: field(z.number(), 'First post time of the gap, epoch ms.'),
        to: field(z.number(), 'Last post time of the gap, epoch ms.'),
        why: field(z.string(), 'Why posts may be missing.'),
      }),
    ),
    text,
  );

const VerifiedFile = z.looseObject({
  file: field(z.string(), 'The file.'),
  status: field(status, 'Result of this file. A gap that another file fills does not count.'),
  from,
  to,
  rows: field(z.int(), 'Posts in the file, including those that are not verified yet.'),
  duplicates: field(z.int(), 'Posts that the file contains more than once.'),
  gaps: gaps('Gaps of the file that no other file fills.'),
});
export type VerifiedFile = z.infer<typeof VerifiedFile>;

export const Verification = z.looseObject({
  status: field(status, 'The worst result of the files; gaps also if there are gaps between them.'),
  from,
  to,
  rows: field(z.int(), 'Posts in all files.'),
  gaps: gaps('Gaps that no file fills.'),
  files: field(z.array(VerifiedFile), 'The files, in the given order.'),
});
export type Verification = z.infer<typeof Verification>;
