/** As the service does: lower-cased, without a leading @. */
export const normalHandle = (text: string) => text.trim().replace(/^@/, '').toLowerCase();

export function distinctHandles(handles: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const text of handles)
    if (!first.has(normalHandle(text))) first.set(normalHandle(text), text);
  return [...first.values()];
}
