import { numberSource, stringifyJson } from '../../base/json.ts';
import { safeText } from '../terminal/safe-text.ts';
import { disarm } from './disarm-formula.ts';
import { isObject, type JsonObject, locate } from './fields.ts';

/** Text goes in quotes where a reader could take a part of it for the file's own marks; `;` and tab split columns in some. */
const special = /[",;\t\r\n]|^\s|\s$/;

const quoted = (text: string) => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** One value as a cell: text disarmed, numbers as they came, lists and objects as JSON, nothing for null. */
export function csvCell(value: unknown, source?: string): string {
  switch (typeof value) {
    case 'string':
      return value === '' ? '' : quoted(disarm(value));
    case 'number':
      return source ?? String(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? '' : quoted(disarm(stringifyJson(value)));
    default:
      return '';
  }
}

const memberCell = (holder: JsonObject, key: string): string => {
  const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
  return csvCell(value, typeof value === 'number' ? numberSource(holder, key) : undefined);
};

/** Cells as a line; a lone empty cell is quoted, since a blank line is no row to most readers. */
function csvLine(values: readonly unknown[]): string {
  let line = '';
  for (let index = 0; index < values.length; index++) {
    line += index === 0 ? csvCell(values[index]) : `,${csvCell(values[index])}`;
  }
  return values.length === 1 && line === '' ? '""\n' : `${line}\n`;
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

/** Paths of a record that the tree has not; an object that nobody knows is taken apart. */
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
}

/** Turns records into CSV text (RFC 4180, but for LF at line ends, as `sort`, `cut` and `jq` like it). */
export function createCsv<T>(options: CsvOptions<T>) {
  const { rows, fixed, onUnknown } = options;
  let columns = [...options.fields];
  let tree = treeOf(columns);
  let paths: readonly (readonly string[] | string)[] | undefined;
  const told = new Set<string>();
  const safe = (text: string) => (options.terminal ? `${safeText(text.slice(0, -1))}\n` : text);
  const headerOnce = () => (options.header === false ? '' : safe(csvLine(columns)));

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
      for (const row of rows(record)) text += safe(csvLine(row));
      return text;
    }
    const list = paths ?? [];
    let row = '';
    for (let index = 0; index < list.length; index++) {
      const cell = cellAt(record, list[index] ?? '', index);
      row += index === 0 ? cell : `,${cell}`;
    }
    return text + safe(list.length === 1 && row === '' ? '""\n' : `${row}\n`);
  };

  return {
    /** A record's lines; the header before those of the first. */
    line,
    /** The header alone, where no record came. */
    end: (): string => (paths ? '' : start()),
  };
}
