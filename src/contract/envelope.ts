import * as z from 'zod/mini';
import { field } from './field.ts';

/** The `meta` object next to `data` in an envelope. */
export const Meta = z.looseObject({
  asOf: field(z.string(), 'Time the data was observed.', { format: 'date-time' }),
  requestId: field(z.string(), 'Unique per request; quote it to support.'),
});
export type Meta = z.infer<typeof Meta>;
