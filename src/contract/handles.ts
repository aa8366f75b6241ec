/**
 * The handle alone: people write it with `@`, pasted twice by mistake with `@@`. What trdr sends,
 * matches and shows has none.
 */
export const bareHandle = (text: string): string => text.trim().replace(/^@+/, '');

/** Equal for all spellings of a handle, so that it is cached, requested and matched once. */
export const normalHandle = (text: string): string => bareHandle(text).toLowerCase();

/**
 * The handle that the service reads: it removes only one `@`. Its prices follow this rule, because
 * `trdr api` sends any text.
 */
export const servedHandle = (text: string): string => text.trim().replace(/^@/, '').toLowerCase();

/** The handles of a batch for which the service charges, each in its first spelling. */
export function distinctHandles(handles: readonly string[]): string[] {
  const first = new Map<string, string>();
  for (const text of handles)
    if (!first.has(servedHandle(text))) first.set(servedHandle(text), text);
  return [...first.values()];
}
