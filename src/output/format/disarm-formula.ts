/** Most text begins like this and is told apart at a glance. */
const harmless = /^[A-Za-z0-9_'#$([{]/;

/** What a spreadsheet may run: text that begins like a formula, in any width, behind quotes, blanks and invisible characters. */
const live =
  /^["\s\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/u;

/** A string that is a number and nothing else is left as it is. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Where a spreadsheet that is set to `;` or tabs starts another cell or row, whatever quotes stand around the text. */
const separator = /[;\t\r\n]/;

const disarmCell = (text: string): string =>
  harmless.test(text) || !live.test(text) || number.test(text) ? text : `'${text}`;

/**
 * Text as a CSV cell may hold it: a formula gets an apostrophe in front, so that it is shown and not run. A spreadsheet
 * that separates cells by `;` or tabs does not see the quotes of a cell that starts behind a comma, so that each part of
 * such a text is disarmed as a cell of its own.
 */
export function disarm(text: string): string {
  if (!separator.test(text)) return disarmCell(text);
  const parts = text.split(/([;\t\r\n]+)/).map((part) => (separator.test(part) ? part : disarmCell(part)));
  const disarmed = parts.join('');
  // Some spreadsheets skip blanks at the start of a cell.
  return /^[\t\r\n]/.test(text) ? `'${disarmed}` : disarmCell(disarmed);
}
