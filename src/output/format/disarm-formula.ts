/** Most text starts like this, so this check comes first. */
const harmless = /^[A-Za-z0-9_'#$([{]/;

/** Text that a spreadsheet may run: a formula character of any width, after quotes, blanks and invisible characters. */
const formula =
  /^["\s\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\u2a75\u2a76\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/u;

/** A signed number looks like a formula but is harmless. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Characters at which a spreadsheet that is set to `;` or tabs starts a new cell or row, even within quotes. */
const separator = /[;\t\r\n]/;

const disarmCell = (text: string): string =>
  harmless.test(text) || !formula.test(text) || number.test(text) ? text : `'${text}`;

/**
 * Disarms text for a CSV cell: a formula gets a leading apostrophe, so that a spreadsheet shows it instead of running
 * it. A spreadsheet that splits cells at `;` or tabs ignores quotes after a comma, so each part between these
 * characters is disarmed separately.
 */
export function disarm(text: string): string {
  if (!separator.test(text)) return disarmCell(text);
  const parts = text.split(/([;\t\r\n]+)/).map((part) => (separator.test(part) ? part : disarmCell(part)));
  const disarmed = parts.join('');
  // Some spreadsheets skip blanks at the start of a cell.
  return /^[\t\r\n]/.test(text) ? `'${disarmed}` : disarmCell(disarmed);
}

/** Reverses `disarm` for a cell that was read from CSV. */
export function rearm(cell: string): string {
  const plain = cell
    .split(/([;\t\r\n]+)/)
    .map((part) => (part.startsWith("'") && disarmCell(part.slice(1)) === part ? part.slice(1) : part))
    .join('');
  // An apostrophe may also have been there before.
  return disarm(plain) === cell ? plain : cell;
}
