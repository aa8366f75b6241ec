import stringWidth from 'string-width';

/**
 * The width of text that is not `narrow` (`width.ts`). The build makes this module a piece that
 * runs on first use, because string-width compiles its patterns when it is loaded, and that takes
 * longer than printing a table.
 */
export const displayWidth = (text: string): number =>
  stringWidth(text, { countAnsiEscapeCodes: true });
