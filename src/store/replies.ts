/** A reply as a list; empty for another reply. */
export const listReply = (answer: unknown): readonly unknown[] =>
  Array.isArray(answer) ? answer : [];
/**
 * A number of a reply; 0 for another one, because anyone with write access to the store can write
 * anything.
 */
export const number = (value: unknown): number =>
  Number.isFinite(Number(value)) ? Number(value) : 0;

/** The fields of a reply of alternating names and values. */
export function fieldsReply(answer: unknown): Map<string, string> {
  const flat = listReply(answer);
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2)
    fields.set(String(flat[at]), String(flat[at + 1]));
  return fields;
}
