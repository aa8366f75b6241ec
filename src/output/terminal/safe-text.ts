// Text of strangers, made fit for a person's screen. What is dropped here could move the cursor, repaint
// the screen, reverse the reading order, or make two different names look the same.

/** Whole escape sequences: CSI; OSC, DCS, SOS, PM and APC with their text; any other; seven and eight bits. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[P\]X^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]?/g;

/** Line ends and tabs, in every form. */
const breaks = /[\t\n\v\f\r\x85\u2028\u2029]+/g;

/** Control characters, and marks of direction. */
const controls = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Characters without width that hide differences: joiners apart, which have their uses. */
const hidden = new RegExp(
  '[\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufe00-\\ufe0d' +
    '\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}' +
    '\\u{e0000}-\\u{e001f}\\u{e0080}-\\u{e0fff}]+',
  'gu',
);

/** Tag letters anywhere but in the flag of a country's part. */
const tags = /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007f}]+/gu;

/** Letters of the scripts that are written with joiners. */
const scripts =
  '\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}' +
  '\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}';
/** Made when the first joiner turns up: making it takes 2 ms. */
let lettersJoined: RegExp | undefined;
const emojiJoined =
  /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d\p{Extended_Pictographic}/u;

/** Keeps a joiner within an emoji, and between letters that are written with it. */
function joiner(found: string, at: number, text: string): string {
  const around = text.slice(Math.max(0, at - 2), at + 3);
  lettersJoined ??= new RegExp(`[${scripts}][\\u200c\\u200d][${scripts}]`, 'u');
  return found.length === 1 && (emojiJoined.test(around) || lettersJoined.test(around)) ? found : '';
}

/** More marks on one letter than any language has. */
const piles = /(\p{M}{4})\p{M}+/gu;

/** True where nothing has to be done: the usual case, told in one pass. */
const plain =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u27ff\u3000-\u3029\u3030-\u3098\u309b-\u312f\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9f\u{1f000}-\u{1faff}]*$/u;

function clean(text: string): string {
  return text
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(controls, '')
    .replace(hidden, '')
    .replace(tags, '')
    .replace(/[\u200c\u200d]+/g, joiner)
    .replace(piles, '$1');
}

/** One line of text with nothing in it that a terminal obeys or that deceives a reader. */
export function safeLine(text: string): string {
  if (plain.test(text)) return text;
  return clean(text.replace(escapes, '').replace(breaks, ' '));
}

/** Text that may have several lines, made safe; line ends become `\n`, at most two in a row. */
export function safeText(text: string): string {
  if (plain.test(text)) return text;
  return text
    .replace(escapes, '')
    .replace(/\r\n?|[\v\f\x85\u2028\u2029]/g, '\n')
    .split('\n')
    .map((line) => clean(line.replaceAll('\t', ' ')))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
}

/** What a terminal could obey in a file that is shown with `cat`: line ends and tabs apart, and marks that reorder text. */
const obeyed = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const obeyedAll = new RegExp(obeyed, 'g');

/** Text for formats that cannot escape: U+FFFD for each control character, and `\n` for every line end. */
export const withoutControls = (text: string): string =>
  obeyed.test(text) ? text.replace(/\r\n?/g, '\n').replace(obeyedAll, '\ufffd') : text;

/** What a terminal could obey and JSON lets through: DEL, C1, marks of direction, odd line ends. */
const liveInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** JSON whose every string stays what it is, written without a character that a terminal could obey. */
export const safeJson = (json: string): string => json.replace(liveInJson, escaped);

/** Safe text for a terminal of ASCII alone, where the bytes of UTF-8 could be obeyed as controls. */
export const asciiOnly = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\u200c\u200d]/gu, '')
    .replace(/…/g, '...')
    .replace(/[–—]/g, '-')
    .replace(/≤/g, '<=')
    .replace(/[^\n\x20-\x7e]/gu, '?');
