/** What a spreadsheet may run: text that begins, after blanks or quietly ignored characters, like a formula. */
const live =
  /^[\t\r\n]|^[\s\0-\x20\x7f-\xa0\xad\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]*[=+\-@\u207a\u207b\u208a-\u208c\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20]/;

/** A string that is a number and nothing else is left as it is. */
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Text as a CSV cell may hold it: a formula gets an apostrophe in front, so that it is shown and not run. */
export function disarm(text: string): string {
  return live.test(text) && !number.test(text) ? `'${text}` : text;
}
