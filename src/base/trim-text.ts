/**
 * Removes white space and invisible characters from both ends: texts copied from web pages, chats
 * or spreadsheets often have direction marks or zero-width spaces there.
 */
export const trimText = (text: string): string =>
  isPrintable(text.charCodeAt(0)) && isPrintable(text.charCodeAt(text.length - 1))
    ? text
    : text.replace(ENDS, '');

/** Whether a character is visible ASCII. Most texts begin and end with one, and need no search. */
const isPrintable = (code: number): boolean => code > 0x20 && code < 0x7f;

const EMPTY = '[\\s\\xad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]+';
const ENDS = new RegExp(`^${EMPTY}|${EMPTY}$`, 'g');
