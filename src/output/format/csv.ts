import { disarm } from '../../base/formulas.ts';
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

interface CsvColumn {
  readonly path: string;
  readonly parents: readonly string[];
  readonly name: string;
}

function columnAt(path: string): CsvColumn {
  const names = path.split('.');
  return { path, parents: names.slice(0, -1), name: names.at(-1) ?? path };
}

/**
 * The known paths of records. It grows, because the service may send fields that it does not
 * describe.
 */
class KnownPaths {
  readonly #paths: Set<string>;
  #parents: Set<string>;

  constructor(paths: Iterable<string>) {
    this.#paths = new Set(paths);
    this.#parents = parentsOf(this.#paths);
  }

  get all(): readonly string[] {
    return [...this.#paths];
  }

  get isFull(): boolean {
    return this.#paths.size >= MOST_KNOWN;
  }

  /** Adds the paths of a record, and returns those that are new. */
  add(record: unknown): readonly string[] {
    const unknown = isRecord(record) ? this.#unknownIn(record, '') : [];
    for (const path of unknown) this.#paths.add(path);
    if (unknown.length > 0) this.#parents = parentsOf(this.#paths);
    return unknown;
  }

  /** An object that is not a column is expanded to its members; another value has its own. */
  #unknownIn(value: JsonObject, before: string): string[] {
    return Object.keys(value).flatMap((name) => {
      const path = before + name;
      if (this.#paths.has(path)) return [];
      const inner = value[name];
      if (isRecord(inner) && Object.keys(inner).length > 0)
        return this.#unknownIn(inner, `${path}.`);
      const isAbsent = inner === null || inner === undefined || isRecord(inner);
      return isAbsent && this.#parents.has(path) ? [] : path;
    });
  }
}

/**
 * Prints records as CSV or TSV. The fields of the first record determine the columns, unless they
 * are fixed.
 */
export class CsvPrinter<T> implements Printer<T> {
  readonly #options: PrinterOptions<T>;
  readonly #dialect: Dialect;
  readonly #clean: (text: string) => string;
  readonly #paths: KnownPaths;
  /** Empty until the header is written. */
  #columns: readonly CsvColumn[] = [];
  #isStarted = false;

  constructor(options: PrinterOptions<T>) {
    this.#options = options;
    this.#dialect = options.format === 'tsv' ? tabs : commas;
    this.#clean = options.terminal ? safeText : withoutControls;
    this.#paths = new KnownPaths(options.fields ?? options.view.fields());
  }

  write(record: T): void | Promise<void> {
    const { sink, fields, notify } = this.#options;
    let text = '';
    if (!this.#isStarted) text = this.#start(record);
    else if (!fields && notify) this.#report(record);
    return sink.write(text + this.#line(this.#columns.map((column) => this.#cell(record, column))));
  }

  async end(): Promise<void> {
    const { sink } = this.#options;
    if (!this.#isStarted) await sink.write(this.#start());
    await sink.flush();
  }

  /** Returns the header. */
  #start(record?: T): string {
    const { fields, bom } = this.#options;
    this.#isStarted = true;
    if (!fields) this.#paths.add(record);
    this.#columns = (fields ?? this.#paths.all).map(columnAt);
    const titles = this.#columns.map(({ path }) => this.#textOf(path));
    return (bom ? '\ufeff' : '') + this.#line(titles);
  }

  #report(record: T): void {
    if (this.#paths.isFull) return;
    const name = this.#options.format.toUpperCase();
    for (const path of this.#paths.add(record))
      this.#options.notify?.(
        `the field ${path} is not in the ${name}: it first appeared after the header was written`,
      );
  }

  #line(cells: readonly string[]): string {
    const text = cells.join(this.#dialect.separator);
    // Most CSV readers skip an empty line.
    const isSkipped = text === '' && cells.length === 1 && this.#options.format === 'csv';
    return isSkipped ? '""\n' : `${text}\n`;
  }

  #cell(record: unknown, { path, parents, name }: CsvColumn): string {
    let holder = record;
    for (const parent of parents) holder = isRecord(holder) ? holder[parent] : undefined;
    if (isRecord(holder) && Object.hasOwn(holder, name)) return this.#member(holder, name);
    // The name of a member may itself contain dots.
    const place = parents.length > 0 ? locate(record, path) : undefined;
    return place ? this.#member(place.holder, place.key) : '';
  }

  /** Numbers are unchanged, lists and objects become JSON. */
  #member(holder: JsonObject, key: string): string {
    const value = holder[key];
    switch (typeof value) {
      case 'string':
        return this.#textOf(value);
      case 'number':
        return numberSource(holder, key) ?? String(value);
      case 'boolean':
      case 'bigint':
        return String(value);
      case 'object':
        return value === null ? '' : this.#textOf(stringifyJson(value));
      default:
        return '';
    }
  }

  /** Text is made safe, so that neither a spreadsheet nor a terminal executes it. */
  #textOf(text: string): string {
    return text === '' ? '' : this.#dialect.escapeText(disarm(this.#clean(text)));
  }
}
