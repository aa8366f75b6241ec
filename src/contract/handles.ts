/**
 * The handle alone: people write it with `@`, pasted twice by mistake with `@@`. What trdr sends,
 * matches and shows has none.
 */
export const bareHandle = (text: string): string => text.trim().replace(/^[@\s]+/, '');

/** A handle as people write it. A wallet or an id may stand in its place. */
export const atHandle = (text: string): string => {
  const bare = bareHandle(text);
  return bare === '' || bare.length >= SHORTEST_ADDRESS ? bare : `@${bare}`;
};

/** Equal for all spellings of a handle, so that it is cached, requested and matched once. */
export const normalHandle = (text: string): string => bareHandle(text).toLowerCase();

/** No whole address in base58 or hex has fewer characters, and no handle has as many. */
export const SHORTEST_ADDRESS = 32;

/**
 * Whether a handle begins like an address, of which it may be a part: trdr then says what it was
 * taken for.
 */
export const beginsLikeAddress = (handle: string): boolean =>
  /^0x[0-9a-f]{6,}$/i.test(handle) ||
  (/^[1-9A-HJ-NP-Za-km-z]{20,}$/.test(handle) && isMixed(handle));

/** Whether a text has digits, lower and upper case, as every address in base58 has. */
export const isMixed = (text: string): boolean =>
  /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);

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
