import CliTable from 'cli-table3';

export interface GridColumn {
  readonly width: number;
  readonly align: 'left' | 'right';
}

interface Grid {
  readonly columns: readonly GridColumn[];
  /** What each line begins with. */
  readonly indent?: string;
  readonly head?: {
    readonly titles: readonly string[];
    /** The character of the line below the titles. */
    readonly rule: string;
  };
}

const GAP = '  ';

/** Tables and cards have no frames. */
const FRAME = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  'left-mid': '',
  'right-mid': '',
  right: '',
  middle: GAP,
  'mid-mid': GAP,
};

/**
 * Lays out cells, which may have several lines, and returns the lines of all of them. Only this
 * function knows cli-table3. The caller cuts and wraps the cells, because cli-table3 would also cut
 * numbers, and colors them, because it would load a package for that.
 */
export function grid(
  rows: readonly (readonly string[])[],
  { columns, indent = '', head }: Grid,
): string[] {
  // cli-table3 would return an empty line.
  if (rows.length === 0 && !head) return [];
  const table = new CliTable({
    head: [...(head?.titles ?? [])],
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ align }) => align),
    chars: { ...FRAME, left: indent, mid: head?.rule ?? '' },
    style: {
      'padding-left': 0,
      'padding-right': 0,
      head: [],
      border: [],
      compact: true,
    },
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.replace(/ +$/, ''));
}
