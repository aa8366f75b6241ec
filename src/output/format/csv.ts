import { numberSource, stringifyJson } from '../../base/json.ts';
import { safeText, withoutControls } from '../terminal/safe-text.ts';
import { disarm } from './disarm-formula.ts';
import { isObject, type JsonObject, locate } from './fields.ts';

/** How cells become text: what separates them, and how text is told from that. */
interface Dialect {
  readonly separator: string;
  readonly escapeText: (text: string) => string;
}

/** Text goes in quotes where a reader could take a part of it for the file's own marks; `;` and tab split columns in some. */
const special = /[",;\t\r\n]|^\s|\s$/;

/** RFC 4180, but for LF at line ends, as `sort`, `cut` and `jq` like it. */
const commas: Dialect = {
  separator: ',',
  escapeText: (text) => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
};

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** One line per record and no quotes: tabs and line ends within text are escaped as `jq @tsv` does. */
const tabs: Dialect = {
  separator: '\t',
  escapeText: (text) => text.replace(/[\\\t\n\r]/g, (char) => escapes[char] ?? char),
};

/** Text as a cell may hold it, before quotes: without what a spreadsheet or a terminal could obey. */
export const csvText = (text: string, clean: (text: string) => string = withoutControls): string =>
  disarm(clean(text));

/** One value as a cell: text disarmed, numbers as they came, lists and objects as JSON, nothing for null. */
export function csvCell(
  value: unknown,
  source?: string,
  escapeText: (text: string) => string = commas.escapeText,
  clean?: (text: string) => string,
): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? '' : escapeText(csvText(value, clean));
    case 'number':
      return source ?? String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? '' : escapeText(csvText(stringifyJson(value), clean));
    default:
      return '';
  }
}

/** Known paths as a tree; a leaf takes whatever stands there. */
type Tree = Map<string, Tree>;

function treeOf(paths: readonly string[]): Tree {
  const tree: Tree = new Map();
  for (const path of paths) {
    let node = tree;
    for (const name of path.split('.')) {
      const next = node.get(name) ?? new Map();
      node.set(name, next);
      node = next;
    }
    // A member may have the dots in its own name.
    if (!tree.has(path)) tree.set(path, new Map());
  }
  return tree;
}

/** Paths of a record that are not in the tree; unknown objects are expanded. */
function unknownPaths(tree: Tree | undefined, record: unknown, before = '', found: string[] = []): string[] {
  if (!isObject(record)) return found;
  for (const name in record) {
    const node = tree?.get(name);
    if (node) {
      if (node.size > 0) unknownPaths(node, record[name], `${before}${name}.`, found);
      continue;
    }
    const value = record[name];
    if (isObject(value) && Object.keys(value).length > 0)
      unknownPaths(undefined, value, `${before}${name}.`, found);
    else found.push(before + name);
  }
  return found;
}

/** How records become lines of CSV. */
export interface CsvOptions<T> {
  /** The columns, as dotted paths. */
  readonly fields: readonly string[];
  /** Rows of its own making, under a header of their own. */
  readonly rows?: ((record: T) => readonly (readonly unknown[])[]) | undefined;
  /** The columns are all there may be: what was asked for with `--fields`, or an earlier run's header. */
  readonly fixed?: boolean | undefined;
  /** False where the file has its header already. */
  readonly header?: boolean | undefined;
  /** Told once of each field that first shows up after the header was written. */
  readonly onUnknown?: ((path: string) => void) | undefined;
  /** Strips what a terminal could obey: for CSV that a person looks at. */
  readonly terminal?: boolean | undefined;
  /** Separates cells by tabs instead of commas. */
  readonly tabs?: boolean | undefined;
  /** Starts with a byte order mark, by which Excel recognises UTF-8. */
  readonly bom?: boolean | undefined;
}

/** Turns records into CSV or TSV text. */
export function createCsv<T>(options: CsvOptions<T>) {
  const { rows, fixed, onUnknown } = options;
  const { separator, escapeText } = options.tabs ? tabs : commas;
  const clean = options.terminal ? safeText : undefined;
  let columns = [...options.fields];
  let tree = treeOf(columns);
  let paths: readonly (readonly string[] | string)[] | undefined;
  const told = new Set<string>();
  const cellOf = (value: unknown, source?: string) => csvCell(value, source, escapeText, clean);
  const memberCell = (holder: JsonObject, key: string): string => {
    const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
    return cellOf(value, typeof value === 'number' ? numberSource(holder, key) : undefined);
  };
  // To most readers of CSV a blank line is not a row.
  const lineOf = (text: string, cells: number) =>
    cells === 1 && text === '' && !options.tabs ? '""\n' : `${text}\n`;
  const lineOfValues = (values: readonly unknown[]) =>
    lineOf(values.map((value) => cellOf(value)).join(separator), values.length);
  const headerOnce = () =>
    options.header === false ? '' : `${options.bom ? '\ufeff' : ''}${lineOfValues(columns)}`;

  const start = (record?: T): string => {
    if (record !== undefined && !fixed && !rows) {
      columns = [...columns, ...unknownPaths(tree, record)];
      tree = treeOf(columns);
    }
    paths = columns.map((path) => (path.includes('.') ? path.split('.') : path));
    return headerOnce();
  };

  const report = (record: T) => {
    if (!onUnknown) return;
    for (const path of unknownPaths(tree, record)) {
      if (told.has(path) || told.size >= 1000) continue;
      told.add(path);
      onUnknown(path);
    }
  };

  const cellAt = (record: unknown, path: readonly string[] | string, index: number): string => {
    if (typeof path === 'string') return isObject(record) ? memberCell(record, path) : '';
    let holder: unknown = record;
    for (const [depth, name] of path.entries()) {
      if (!isObject(holder)) return '';
      if (!Object.hasOwn(holder, name)) {
        const place = locate(record, columns[index] ?? '');
        return place ? memberCell(place.holder, place.key) : '';
      }
      if (depth === path.length - 1) return memberCell(holder, name);
      holder = holder[name];
    }
    return '';
  };

  const line = (record: T): string => {
    let text = '';
    if (!paths) text = start(record);
    else if (!fixed && !rows) report(record);
    if (rows) {
      for (const row of rows(record)) text += lineOfValues(row);
      return text;
    }
    const list = paths ?? [];
    let row = '';
    for (let index = 0; index < list.length; index++) {
      const cell = cellAt(record, list[index] ?? '', index);
      row += index === 0 ? cell : separator + cell;
    }
    return text + lineOf(row, list.length);
  };

  return {
    /** A record's lines; the header before those of the first. */
    line,
    /** The header alone, where no record came. */
    end: (): string => (paths ? '' : start()),
  };
}
