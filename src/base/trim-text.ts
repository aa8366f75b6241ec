/** Texts copied from web pages, chats or spreadsheets often have invisible characters at their ends. */
export const trimText = (text: string): string =>
  isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(text.length - 1))
    ? text
    : text.replace(ENDS, '');

/** Most texts begin and end with visible ASCII, and need no search. */
const isPrintable = (code: number): boolean => code > 0x20 && code < 0x7f;

const EMPTY = '[\\s\\xad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]+';
const ENDS = new RegExp(`^${EMPTY}|${EMPTY}$`, 'g');
