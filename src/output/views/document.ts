import { fieldPaths } from '../../contract/paths.ts';
import type { View } from '../view.ts';

/** A document for programs. It is never shown as a table, but `--fields` can select its fields. */
export const documentView = (schema: Parameters<typeof fieldPaths>[0]): View<Record<string, unknown>> => ({
  columns: [],
  fields: fieldPaths(schema),
  empty: 'no document',
});
