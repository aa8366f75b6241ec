/** Skips the expensive patterns for most texts. */
const harmless = /^[A-Za-z0-9_'#$([{]/;

/**
 * Begins with `=`, `+`, `-`, `@` or a variant, possibly after quotes, blanks and invisible
 * characters.
 */
const isFormula = (text: string): boolean => {
  formula ??=
    /^["\s\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/u;
  return formula.test(text);
};
/** Compiled on first use, because Unicode classes take a third of a millisecond. */
let formula: RegExp | undefined;

/** A signed number looks like a formula but is harmless. */
const signedNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * A spreadsheet that separates at `;` or tab begins a new cell at these characters, even within
 * quotes.
 */
const boundary = /[;\t\r\n]/;

const disarmCell = (text: string): string =>
  harmless.test(text) || !isFormula(text) || signedNumber.test(text) ? text : `'${text}`;

/**
 * Text that no spreadsheet runs as a formula. Each part is treated separately, because of
 * `boundary`.
 */
export function disarm(text: string): string {
  if (!boundary.test(text)) return disarmCell(text);
  const parts = text
    .split(/([;\t\r\n]+)/)
    .map((part) => (boundary.test(part) ? part : disarmCell(part)));
  const disarmed = parts.join('');
  // Some spreadsheets skip tabs and line breaks at the start of a cell.
  return /^[\t\r\n]/.test(text) ? `'${disarmed}` : disarmCell(disarmed);
}

/** The text of a cell that `disarm` may have changed. */
export function rearm(cell: string): string {
  if (!cell.includes("'")) return cell;
  const plain = cell
    .split(/([;\t\r\n]+)/)
    .map((part) =>
      part.startsWith("'") && disarmCell(part.slice(1)) === part ? part.slice(1) : part,
    )
    .join('');
  // An apostrophe that was part of the original text stays.
  return disarm(plain) === cell ? plain : cell;
}
