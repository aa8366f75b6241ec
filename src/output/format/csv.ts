import { numberSource, stringifyJson } from '../../base/json.ts';
import { isRecord, type JsonObject } from '../../base/json-object.ts';
import { safeText, withoutControls } from '../terminal/safe-text.ts';
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

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
};

/** No quotes: escapes as `jq @tsv` does, so that each row is one line. */
const tabs: Dialect = {
  separator: '\t',
  escapeText: (text) => text.replace(/[\\\t\n\r]/g, (char) => escapes[char] ?? char),
};

const parentsOf = (paths: Iterable<string>): Set<string> =>
  new Set(
    [...paths].flatMap((path) =>
      [...path.matchAll(/\./g)].map(({ index }) => path.slice(0, index)),
    ),
  );

/** Later fields are not reported. */
const MOST_KNOWN = 1_000;

export function createCsvPrinter<T>({
  sink,
  view,
  format,
  fields,
  terminal,
  bom,
  notify,
}: PrinterOptions<T>): Printer<T> {
  const { separator, escapeText } = format === 'tsv' ? tabs : commas;
  const clean = terminal ? safeText : withoutControls;
  let columns: {
    readonly path: string;
    readonly parents: readonly string[];
    readonly name: string;
  }[] = [];
  const known = new Set(fields ?? view.fields);
  let parents = parentsOf(known);
  let isStarted = false;

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
    const value = holder[key];
    return cellOf(value, typeof value === 'number' ? numberSource(holder, key) : undefined);
  };
  // Most CSV readers skip an empty line.
  const lineOf = (text: string) =>
    columns.length === 1 && text === '' && format === 'csv' ? '""\n' : `${text}\n`;

  /** The paths that are not in `known`, which then has them. An object that is not a column is expanded to its members. */
  const addUnknown = (record: unknown): string[] => {
    const pathsIn = (value: JsonObject, before: string): string[] =>
      Object.keys(value).flatMap((name) => {
        const path = before + name;
        if (known.has(path)) return [];
        const inner = value[name];
        if (isRecord(inner) && Object.keys(inner).length > 0) return pathsIn(inner, `${path}.`);
        return parents.has(path) ? [] : path;
      });
    const found = isRecord(record) ? pathsIn(record, '') : [];
    for (const path of found) known.add(path);
    if (found.length > 0) parents = parentsOf(known);
    return found;
  };

  /** The header, and the columns: the fields of the first record follow unless they are fixed. */
  const start = (record?: T): string => {
    isStarted = true;
    if (!fields) addUnknown(record);
    columns = (fields ?? [...known]).map((path) => {
      const names = path.split('.');
      return { path, parents: names.slice(0, -1), name: names.at(-1) ?? path };
    });
    return (bom ? '\ufeff' : '') + lineOf(columns.map(({ path }) => cellOf(path)).join(separator));
  };

  const report = (record: T) => {
    if (known.size >= MOST_KNOWN) return;
    const name = format.toUpperCase();
    for (const path of addUnknown(record))
      notify?.(
        `the field ${path} is not in the ${name}: it first appeared after the header was written`,
      );
  };

  const cellAt = (record: unknown, { path, parents, name }: (typeof columns)[number]): string => {
    let holder = record;
    for (const parent of parents) holder = isRecord(holder) ? holder[parent] : undefined;
    if (isRecord(holder) && Object.hasOwn(holder, name)) return memberCell(holder, name);
    // The name of a member may itself contain dots.
    const place = parents.length > 0 ? locate(record, path) : undefined;
    return place ? memberCell(place.holder, place.key) : '';
  };

  return {
    write(record) {
      let text = '';
      if (!isStarted) text = start(record);
      else if (!fields && notify) report(record);
      return sink.write(
        text + lineOf(columns.map((column) => cellAt(record, column)).join(separator)),
      );
    },
    async end() {
      if (!isStarted) await sink.write(start());
      await sink.flush();
    },
  };
}

/** Skips the expensive patterns for most texts. */
const harmless = /^[A-Za-z0-9_'#$([{]/;

/** Begins with `=`, `+`, `-`, `@` or a variant, possibly after quotes, blanks and invisible characters. */
const isFormula = (text: string): boolean => {
  formula ??=
    /^["\s\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/u;
  return formula.test(text);
};
/** Compiled on first use, because Unicode classes take a third of a millisecond. */
let formula: RegExp | undefined;

/** A signed number looks like a formula but is harmless. */
const signedNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** A spreadsheet that separates at `;` or tab begins a new cell at these characters, even within quotes. */
const boundary = /[;\t\r\n]/;

const disarmCell = (text: string): string =>
  harmless.test(text) || !isFormula(text) || signedNumber.test(text) ? text : `'${text}`;

/** Each part is treated separately, because of `boundary`. @internal Exported for tests. */
export function disarm(text: string): string {
  if (!boundary.test(text)) return disarmCell(text);
  const parts = text
    .split(/([;\t\r\n]+)/)
    .map((part) => (boundary.test(part) ? part : disarmCell(part)));
  const disarmed = parts.join('');
  // Some spreadsheets skip tabs and line breaks at the start of a cell.
  return /^[\t\r\n]/.test(text) ? `'${disarmed}` : disarmCell(disarmed);
}

export function rearm(cell: string): string {
  const plain = cell
    .split(/([;\t\r\n]+)/)
    .map((part) =>
      part.startsWith("'") && disarmCell(part.slice(1)) === part ? part.slice(1) : part,
    )
    .join('');
  // An apostrophe that was part of the original text stays.
  return disarm(plain) === cell ? plain : cell;
}
