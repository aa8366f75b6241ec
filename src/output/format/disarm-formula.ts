/** Most text begins like this and is told apart at a glance. */
const harmless = /^[A-Za-z0-9_'"#$([{]/;

/** What a spreadsheet may run: text that begins like a formula, in any width, after blanks or what it may overlook. */
const live =
  /^[\t\r\n]|^[\s\p{C}\p{Default_Ignorable_Code_Point}]*[=+\-@\u207a\u207b\u207c\u208a\u208b\u208c\u2212\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/u;

/** A string that is a number and nothing else is left as it is. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Text as a CSV cell may hold it: a formula gets an apostrophe in front, so that it is shown and not run. */
export function disarm(text: string): string {
  if (harmless.test(text) || !live.test(text) || number.test(text)) return text;
  return `'${text}`;
}
