import { isRecord } from '../../base/json-object.ts';
import type { View } from '../../output/view.ts';
import { fieldsSeen, noteFields } from '../../state/seen-fields.ts';
import type { Context } from '../context.ts';

type Place = Pick<Context, 'globals' | 'settings'>;

/**
 * How many records of a run are checked for undocumented fields. A few are enough, because records of the same
 * kind have similar fields.
 */
const LOOKED_AT = 20;

/** A view whose --fields also accepts the undocumented fields that records of earlier runs had. */
export function withSeenFields<V extends Pick<View<unknown>, 'fields'>>(
  view: V,
  { globals, settings }: Place,
): V {
  const { cache } = settings.folders;
  if (globals.fields === undefined || cache === undefined) return view;
  return { ...view, fields: [...view.fields, ...fieldsSeen(cache, view.fields)] };
}

/** Saves the undocumented fields of the first printed records. */
export function createFieldNotes(view: Pick<View<unknown>, 'fields'>, { settings }: Place) {
  // Read `view.fields` on first use: it may load schemas, which a run with only cached answers does not need.
  let listed: ReadonlySet<string | undefined> | undefined;
  const noted = new Set<string>();
  let looks = 0;
  return (record: unknown): void => {
    const { cache } = settings.folders;
    if (looks >= LOOKED_AT || cache === undefined || !isRecord(record)) return;
    looks++;
    listed ??= new Set(view.fields.map((path) => path.split('.', 1)[0]));
    const known = listed;
    const names = Object.keys(record).filter((name) => !known.has(name) && !noted.has(name));
    if (names.length === 0 || known.size === 0) return;
    for (const name of names) noted.add(name);
    try {
      noteFields(cache, view.fields, names);
    } catch {
      // Ignore the error: its only effect is that --fields rejects the name in the next run.
    }
  };
}
