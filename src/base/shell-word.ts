const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell reads it back, whatever it contains. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
