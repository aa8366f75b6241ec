import { numberSource, stringifyJson } from '../../base/json.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { safeText, withoutControls } from '../terminal/safe-text.ts';
import { disarm } from './disarm-formula.ts';
import { locate } from './fields.ts';
import type { Printer, PrinterOptions } from './printing.ts';

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

const MOST_REPORTED = 1_000;

export function createCsvPrinter<T>({
  sink,
  view,
  format,
  fields,
  columns: earlier,
  header = true,
  terminal,
  bom,
  notify,
}: PrinterOptions<T>): Printer<T> {
  const { separator, escapeText } = format === 'tsv' ? tabs : commas;
  const clean = terminal ? safeText : withoutControls;
  const fixed = earlier ?? fields;
  let columns = [...(fixed ?? view.fields)];
  let tree = treeOf(columns);
  let paths: readonly (readonly string[] | string)[] | undefined;
  const reported = new Set<string>();

  /** Text is made safe for spreadsheets and terminals. Numbers are unchanged, lists and objects become JSON. */
  const cellOf = (value: unknown, source?: string): string => {
    switch (typeof value) {
      case 'string':
        return value === '' ? '' : escapeText(disarm(clean(value)));
      case 'number':
        return source ?? String(value);
      case 'boolean':
      case 'bigint':
        return String(value);
      case 'object':
        return value === null ? '' : escapeText(disarm(clean(stringifyJson(value))));
      default:
        return '';
    }
  };
  const memberCell = (holder: JsonObject, key: string): string => {
    const value = Object.hasOwn(holder, key) ? holder[key] : undefined;
    return cellOf(value, typeof value === 'number' ? numberSource(holder, key) : undefined);
  };
  // Most CSV readers skip an empty line.
  const lineOf = (text: string) =>
    columns.length === 1 && text === '' && format === 'csv' ? '""\n' : `${text}\n`;

  /** The header, and the columns: the fields of the first record follow unless they are fixed. */
  const start = (record?: T): string => {
    if (!fixed) columns = [...columns, ...unknownPaths(tree, record)];
    tree = treeOf(columns);
    paths = columns.map((path) => (path.includes('.') ? path.split('.') : path));
    if (!header) return '';
    return (bom ? '\ufeff' : '') + lineOf(columns.map((name) => cellOf(name)).join(separator));
  };

  const report = (record: T) => {
    for (const path of unknownPaths(tree, record)) {
      if (reported.has(path) || reported.size >= MOST_REPORTED) continue;
      reported.add(path);
      const name = format.toUpperCase();
      notify?.(`the field ${path} is not in the ${name}: it first appeared after the header was written`);
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

  return {
    write(record) {
      let text = '';
      if (!paths) text = start(record);
      else if (!fixed && notify) report(record);
      const list = paths ?? [];
      let row = '';
      for (let index = 0; index < list.length; index++) {
        const cell = cellAt(record, list[index] ?? '', index);
        row += index === 0 ? cell : separator + cell;
      }
      return sink.write(text + lineOf(row));
    },
    async end() {
      if (!paths) await sink.write(start());
      await sink.flush();
    },
  };
}
