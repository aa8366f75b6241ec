/** A post as it stands in the stream. */
export interface StreamRow {
  /** Its place in the stream. */
  readonly entry: string;
  readonly id: string;
  /** Post time; null where the service gave none. */
  readonly at: number | null;
  /** The post's own JSON, as one line. */
  readonly body: string;
}

/** A post time as a number; the store keeps an empty text for none. */
export function timeFrom(text: string | undefined): number | null {
  const at = text === undefined || text === '' ? Number.NaN : Number(text);
  return Number.isFinite(at) ? at : null;
}

/** Reads entries as XRANGE and XREADGROUP give them. An entry that is not one of ours is left out. */
export function readEntries(answer: unknown): StreamRow[] {
  const rows: StreamRow[] = [];
  for (const pair of Array.isArray(answer) ? answer : []) {
    const [entry, flat]: readonly unknown[] = Array.isArray(pair) ? pair : [];
    if (typeof entry !== 'string' || !Array.isArray(flat)) continue;
    const fields = new Map<string, string>();
    for (let at = 0; at + 1 < flat.length; at += 2) fields.set(String(flat[at]), String(flat[at + 1]));
    const [id, body] = [fields.get('id'), fields.get('body')];
    if (id === undefined || body === undefined || !isLine(body)) continue;
    rows.push({ entry, id, at: timeFrom(fields.get('at')), body });
  }
  return rows;
}

/** Reads what XREAD and XREADGROUP answer for one stream; nothing where the wait was in vain. */
export function readStreams(answer: unknown): StreamRow[] {
  const [stream]: readonly unknown[] = Array.isArray(answer) ? answer : [];
  return Array.isArray(stream) ? readEntries(stream[1]) : [];
}

/** Whether a body can be passed on as a line of its own: anyone with a right to write can put anything here. */
function isLine(body: string): boolean {
  if (body.includes('\n') || !body.startsWith('{')) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

/** Milliseconds of an entry's place: when the store took it in. */
export const entryMs = (entry: string): number => Number(entry.split('-')[0]) || 0;

/** Whether one place of a stream is before another. */
export function isBefore(one: string, other: string): boolean {
  const [ms = 0, count = 0] = one.split('-').map(Number);
  const [otherMs = 0, otherCount = 0] = other.split('-').map(Number);
  return ms < otherMs || (ms === otherMs && count < otherCount);
}
