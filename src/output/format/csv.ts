import { numberSource, stringifyJson } from '../../base/json.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { safeText, withoutControls } from '../terminal/safe-text.ts';
import { disarm } from './disarm-formula.ts';
import { locate } from './fields.ts';

interface Dialect {
  readonly separator: string;
  readonly escapeText: (text: string) => string;
}

/** Some readers split columns at semicolons and tabs. */
const special = /[",;\t\r\n]|^\s|\s$/;

/** RFC 4180, but with LF line ends, as `sort`, `cut` and `jq` expect. */
const commas: Dialect = {
  separator: ',',
  escapeText: (text) => (special.test(text) ? `"${text.replaceAll('"', '""')}"` : text),
};

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** No quotes: escapes as `jq @tsv` does, so that each row is one line. */
const tabs: Dialect = {
  separator: '\t',
  escapeText: (text) => text.replace(/[\\\t\n\r]/g, (char) => escapes[char] ?? char),
};

/**
 * Makes text safe for a cell, so that neither a spreadsheet nor a terminal executes it. The caller then adds
 * quotes or escapes.
 * @internal Exported for tests.
 */
export const csvText = (text: string, clean: (text: string) => string = withoutControls): string =>
  disarm(clean(text));

/**
 * Formats one value as a cell: text is made safe, numbers are unchanged, lists and objects become JSON, null
 * becomes an empty cell.
 * @internal Exported for tests.
 */
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

/** A leaf ends a path, but the value of that column may be an object. */
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
    // The name of a member may itself contain dots.
    if (!tree.has(path)) tree.set(path, new Map());
  }
  return tree;
}

/** The paths of a record that are not in the tree. An object that is not in it is expanded to its members. */
function unknownPaths(tree: Tree | undefined, record: unknown, before = '', found: string[] = []): string[] {
  if (!isRecord(record)) return found;
  for (const name in record) {
    const node = tree?.get(name);
    if (node) {
      if (node.size > 0) unknownPaths(node, record[name], `${before}${name}.`, found);
      continue;
    }
    const value = record[name];
    if (isRecord(value) && Object.keys(value).length > 0)
      unknownPaths(undefined, value, `${before}${name}.`, found);
    else found.push(before + name);
  }
  return found;
}

export interface CsvOptions {
  /** Unless `fixed` is set, other fields of the first record follow. */
  readonly fields: readonly string[];
  /** Whether `--fields` or the header of an earlier run determines the columns. */
  readonly fixed?: boolean | undefined;
  readonly header?: boolean | undefined;
  /** Called once for each of at most 1,000 fields that first appear after the header. */
  readonly onUnknown?: ((path: string) => void) | undefined;
  /** Whether the CSV is printed on a terminal, which must not interpret anything. */
  readonly terminal?: boolean | undefined;
  readonly tabs?: boolean | undefined;
  readonly bom?: boolean | undefined;
}

export function createCsv<T>(options: CsvOptions) {
  const { fixed, onUnknown } = options;
  const { separator, escapeText } = options.tabs ? tabs : commas;
  const clean = options.terminal ? safeText : undefined;
  let columns = [...options.fields];
  let tree = treeOf(columns);
  let paths: readonly (readonly string[] | string)[] | undefined;
  const reported = new Set<string>();
  const cellOf = (value: unknown, source?: string) => csvCell(value, source, escapeText, clean);
  const memberCell = (holder: JsonObject, key: string): string => {
    const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
    return cellOf(value, typeof value === 'number' ? numberSource(holder, key) : undefined);
  };
  // Most CSV readers skip an empty line.
  const lineOf = (text: string, cells: number) =>
    cells === 1 && text === '' && !options.tabs ? '""\n' : `${text}\n`;
  const headerOnce = () =>
    options.header === false
      ? ''
      : (options.bom ? '\ufeff' : '') +
        lineOf(columns.map((name) => cellOf(name)).join(separator), columns.length);

  const start = (record?: T): string => {
    if (record !== undefined && !fixed) {
      columns = [...columns, ...unknownPaths(tree, record)];
      tree = treeOf(columns);
    }
    paths = columns.map((path) => (path.includes('.') ? path.split('.') : path));
    return headerOnce();
  };

  const report = (record: T) => {
    if (!onUnknown) return;
    for (const path of unknownPaths(tree, record)) {
      if (reported.has(path) || reported.size >= 1000) continue;
      reported.add(path);
      onUnknown(path);
    }
  };

  const cellAt = (record: unknown, path: readonly string[] | string, index: number): string => {
    if (typeof path === 'string') return isRecord(record) ? memberCell(record, path) : '';
    let holder: unknown = record;
    for (const [depth, name] of path.entries()) {
      if (!isRecord(holder)) return '';
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
    else if (!fixed) report(record);
    const list = paths ?? [];
    let row = '';
    for (let index = 0; index < list.length; index++) {
      const cell = cellAt(record, list[index] ?? '', index);
      row += index === 0 ? cell : separator + cell;
    }
    return text + lineOf(row, list.length);
  };

  return {
    line,
    end: (): string => (paths ? '' : start()),
  };
}
