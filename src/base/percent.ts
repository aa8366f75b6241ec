/** Decodes percent-encoded text. Text that is not validly encoded is returned unchanged, as curl does. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
