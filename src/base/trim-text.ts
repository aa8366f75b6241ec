/**
 * Removes white space and invisible characters from both ends of a text. Texts that were copied from web
 * pages, chats or spreadsheets often begin or end with direction marks or zero-width spaces.
 */
export const trimText = (text: string): string => text.replace(ENDS, '');

const EMPTY = '[\\s\\xad\\u061c\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]+';
const ENDS = new RegExp(`^${EMPTY}|${EMPTY}$`, 'g');
