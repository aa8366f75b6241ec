import * as z from 'zod/mini';
import { field } from './field.ts';

/** What stands beside `data` where the service wraps its answers. */
export const Meta = z.looseObject({
  asOf: field(z.string(), 'Time the data was observed.', { format: 'date-time' }),
  requestId: field(z.string(), 'Unique per request; quote it to support.'),
});
export type Meta = z.infer<typeof Meta>;

/**
 * Takes an answer as it came, wrapped in `data` and `meta` or bare. Both readings are possible, and no
 * bare record has both members, so the form itself tells which holds.
 */
export function unwrap(body: unknown): { data: unknown; meta?: Meta } {
  if (typeof body === 'object' && body !== null && 'data' in body && 'meta' in body) {
    const meta = Meta.safeParse(body.meta);
    return meta.success ? { data: body.data, meta: meta.data } : { data: body.data };
  }
  return { data: body };
}
