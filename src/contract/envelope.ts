import * as z from 'zod/mini';
import { string } from './field.ts';

export const Meta = z.looseObject({
  asOf: string('When the data was observed.', { format: 'date-time' }),
  requestId: string('Unique to each request; quote it when you contact support.'),
});
export type Meta = z.infer<typeof Meta>;
