import { indentJson } from '../raw-body.ts';
import { jsonLine } from './ndjson.ts';

/**
 * Formats records as one JSON document: an array, or with `single` the record itself if there is only one. Each
 * record is on one line; with `pretty`, it is indented over several lines.
 */
export function createJson(single: boolean, pretty: boolean) {
  let held: { readonly record: unknown } | undefined;
  let open = false;
  const item = (record: unknown) => (pretty ? indentJson(jsonLine(record)) : jsonLine(record));
  const next = (record: unknown) => {
    const text = `${open ? ',\n' : '[\n'}${item(record)}`;
    open = true;
    return text;
  };
  return {
    write(record: unknown): string {
      if (!single || open) return next(record);
      // There is a second record, so print an array.
      if (held) {
        const first = held.record;
        held = undefined;
        return next(first) + next(record);
      }
      held = { record };
      return '';
    },
    end(): string {
      if (held) return `${item(held.record)}\n`;
      return open ? '\n]\n' : '[]\n';
    },
  };
}
