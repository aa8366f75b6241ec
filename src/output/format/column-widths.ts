export interface WidthRequest {
  readonly natural: number;
  /** The width of shortened addresses; `natural` for all other columns. */
  readonly short: number;
  /** After cutting or wrapping; the full width if the column must not be cut or wrapped. */
  readonly least: number;
  readonly rank: number;
}

export type Fitted<C> = C & { width: number };

const spare = <C>(columns: readonly Fitted<C>[], room: number, gap: number) =>
  columns.reduce((left, { width }) => left - width, room - gap * (columns.length - 1));

function narrow<C>(columns: readonly Fitted<C>[], over: number, least: (column: Fitted<C>) => number): void {
  for (let cells = over; cells > 0; cells--) {
    let widest: Fitted<C> | undefined;
    for (const column of columns)
      if (column.width > least(column) && column.width > (widest?.width ?? 0)) widest = column;
    if (!widest) return;
    widest.width--;
  }
}

/**
 * Divides the width among columns: addresses are shortened, texts are cut to their minimum, then columns are
 * dropped, highest rank first. Columns of rank 0 are cut below their minimum instead, and dropped only if not
 * even one cell each fits. Without `mayDrop`, the table may be wider than the terminal.
 */
export function fitColumns<C extends WidthRequest>(
  requests: readonly C[],
  room: number,
  gap: number,
  mayDrop = true,
): readonly Fitted<C>[] {
  const kept = [...requests];
  for (;;) {
    const columns = kept.map((request) => {
      const { natural, least } = request;
      return { ...request, width: Math.min(natural, Math.max(room, least)) };
    });
    for (const column of columns.toSorted((a, b) => b.rank - a.rank))
      if (spare(columns, room, gap) < 0) column.width = Math.min(column.width, column.short);
    narrow(columns, -spare(columns, room, gap), ({ least }) => least);
    const highest = kept.reduce((most, { rank }) => Math.max(most, rank), 0);
    if (mayDrop && (highest === 0 || kept.length === 1)) narrow(columns, -spare(columns, room, gap), () => 1);
    if (spare(columns, room, gap) >= 0 || !mayDrop || kept.length === 1) return columns;
    kept.splice(
      kept.findLastIndex(({ rank }) => rank === highest),
      1,
    );
  }
}
