import * as z from 'zod/mini';
import { text } from './field.ts';

export const Meta = z.looseObject({
  asOf: text('When the data was observed.', { format: 'date-time' }),
  requestId: text('Unique to each request; quote it when you contact support.'),
});
export type Meta = z.infer<typeof Meta>;
