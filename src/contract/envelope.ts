import * as z from 'zod/mini';
import { field } from './field.ts';

export const Meta = z.looseObject({
  asOf: field(z.string(), 'When the data was observed.', { format: 'date-time' }),
  requestId: field(z.string(), 'Unique to each request; quote it when you contact support.'),
});
export type Meta = z.infer<typeof Meta>;
