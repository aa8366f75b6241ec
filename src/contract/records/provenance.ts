import * as z from 'zod/mini';
import { int, loose, optional, string } from '../field.ts';

/** Rows are printed without their envelope, so each one carries what the answer says about it. */
export const observed = {
  asOf: z.optional(
    string('When the data was observed, if the service states it.', {
      format: 'date-time',
    }),
  ),
};

/** What --cooldown adds to a record. */
export const cooled = {
  held: z.optional(int('With --cooldown: how many were held back before it.')),
};

/**
 * A record of one subject may be hours old, because answers are kept: it says when trdr read it,
 * and how.
 */
export const obtained = {
  readAt: loose(z.int(), 'When trdr read it, epoch ms; null for files without a certificate.'),
  via: optional(
    z.enum(['service', 'cache', 'book', 'launchpad', 'file']),
    'Where the answer comes from.',
  ),
};

/** The fields of `obtained`, as a record of one subject has them. */
export type Provenance = {
  readonly readAt: number;
  readonly via: 'service' | 'cache' | 'book' | 'launchpad' | 'file';
};
