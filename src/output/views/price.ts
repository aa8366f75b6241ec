import { fieldPaths } from '../../contract/paths.ts';
import { PlannedCall, PriceRecord } from '../../contract/records/tool.ts';
import type { Column, View } from '../view.ts';

export const priceView: View<PriceRecord> = {
  columns: [
    // Endpoints look alike when their names are cut.
    { title: 'endpoint', kind: 'text', field: 'endpoint', min: 25 },
    { title: 'call', kind: 'text', value: (row) => `${row.method} ${row.path}`, rank: 1, min: 40 },
    { title: 'price', kind: 'text', field: 'price', wrap: true, min: 12 },
  ],
  fields: () => fieldPaths(PriceRecord),
  empty: 'no endpoint matches this name',
};

/** The view for programs, which do not need columns. */
export const planView: View<PlannedCall> = {
  columns: [],
  fields: () => fieldPaths(PlannedCall),
  empty: 'no request would be sent',
};

export interface PlanRow {
  readonly call: string;
  /** May be a text such as `6/min`. Null if there is no maximum; empty in rows without calls. */
  readonly times: number | string | null;
  readonly least: number | string | null;
  readonly most: number | string | null;
  /** The wallets that are revealed at most. */
  readonly reveals: number | string | null;
}

/** Only some runs reveal wallets. */
export const planTableView = (hasReveals: boolean): View<PlanRow> => ({
  columns: [
    { title: 'call', kind: 'text', field: 'call', min: 24, wrap: true },
    { title: 'times', kind: 'integer', field: 'times', rank: 1 },
    { title: 'CU at least', kind: 'integer', field: 'least' },
    { title: 'at most', kind: 'integer', field: 'most' },
    ...(hasReveals ? [revealsColumn] : []),
  ],
  fields: () => ['call', 'times', 'least', 'most', 'reveals'],
  empty: 'no request would be sent',
});

const revealsColumn: Column<PlanRow> = { title: 'reveals', kind: 'integer', field: 'reveals' };
