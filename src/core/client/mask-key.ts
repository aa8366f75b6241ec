/**
 * A key as it may be shown: its kind (`xx_live_`, `xx_test_`) and its last four characters, and those only
 * where the rest stays long enough to be a secret.
 */
export function maskKey(key: string): string {
  const [, kind = '', secret = ''] = /^([A-Za-z0-9]+_(?:live|test)_)?(.*)$/s.exec(key) ?? [];
  return `${kind}****${secret.length >= 12 ? secret.slice(-4) : ''}`;
}

/** Replaces the key wherever it stands in a text. */
export const withoutKey = (text: string, key: string | undefined): string =>
  key && text.includes(key) ? text.replaceAll(key, maskKey(key)) : text;

/** A text with everything masked that has a key's form: for words of the command line, which may be one. */
export const withoutKeys = (text: string): string =>
  text.replace(/(?<![A-Za-z0-9])[A-Za-z0-9]+_(?:live|test)_[A-Za-z0-9_-]{12,}/g, (found) =>
    // Nobody makes a secret without a digit in it; names that only look like one stay readable.
    /_(?:live|test)_.*\d/.test(found) ? maskKey(found) : found,
  );
