import { fieldPaths } from '../../contract/paths.ts';
import type { View } from '../view.ts';

/** A document for programs: no table shows it, but its fields can be picked. */
export const documentView = (schema: Parameters<typeof fieldPaths>[0]): View<Record<string, unknown>> => ({
  columns: [],
  fields: fieldPaths(schema),
  empty: 'no document',
});
