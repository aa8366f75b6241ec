// Untrusted text could move the cursor, overwrite the screen, reverse text, or make two names look
// the same.

/** 7-bit and 8-bit, even without their end: CSI; OSC, DCS, SOS, PM and APC; all others. */
const escapes =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[P\]X^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]?/g;

const breaks = /[\t\n\v\f\r\x85\u2028\u2029]+/g;

const controls =
  /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Invisible characters, except joiners. They can make different texts look the same. */
const hidden = new RegExp(
  '[\\xad\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u2060-\\u2065\\u206a-\\u206f\\u3164\\ufe00-\\ufe0d' +
    '\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}' +
    '\\u{e0000}-\\u{e001f}\\u{e0080}-\\u{e0fff}]+',
  'gu',
);

/** Tag characters, except in flags of regions such as Scotland. */
const tags = /(?<!\u{1f3f4}[\u{e0020}-\u{e007e}]{0,8})[\u{e0020}-\u{e007f}]+/gu;

const scripts =
  '\\p{scx=Arab}\\p{scx=Syrc}\\p{scx=Mong}\\p{scx=Deva}\\p{scx=Beng}\\p{scx=Guru}\\p{scx=Gujr}\\p{scx=Orya}' +
  '\\p{scx=Taml}\\p{scx=Telu}\\p{scx=Knda}\\p{scx=Mlym}\\p{scx=Sinh}\\p{scx=Khmr}\\p{scx=Mymr}';
/** Compiled on first use, because it takes 2 ms. */
let lettersJoined: RegExp | undefined;
const emojiJoined =
  /(?:[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d\p{Extended_Pictographic}/u;

/** Keeps a joiner inside an emoji or between letters of a script that uses joiners. */
function joiner(character: string, at: number, text: string): string {
  const around = text.slice(Math.max(0, at - 2), at + 3);
  lettersJoined ??= new RegExp(`[${scripts}][\\u200c\\u200d][${scripts}]`, 'u');
  return character.length === 1 && (emojiJoined.test(around) || lettersJoined.test(around))
    ? character
    : '';
}

const plain =
  /^[\x20-\x7e\xa1-\xac\xae-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u27ff\u3000-\u3029\u3030-\u3098\u309b-\u312f\u3400-\u9fff\uac00-\ud7a3\uff01-\uff9f\u{1f000}-\u{1faff}]*$/u;

function clean(text: string): string {
  return (
    text
      .replace(/\p{Surrogate}/gu, '\ufffd')
      .replace(controls, '')
      .replace(hidden, '')
      .replace(tags, '')
      .replace(/[\u200c\u200d]+/g, joiner)
      // No language uses more combining marks on one letter. Compiled here, because few texts need
      // it.
      .replace(/(\p{M}{4})\p{M}+/gu, '$1')
  );
}

export function safeLine(text: string): string {
  if (plain.test(text)) return text;
  return clean(text.replace(escapes, '').replace(breaks, ' '));
}

/** All line ends become `\n`, at most two in a row. */
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

/** A user may print a file with `cat`. Line feeds and tabs are allowed. */
const unsafe = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;
const everyUnsafe = new RegExp(unsafe, 'g');

/** Replaces each control character by U+FFFD, for formats without escapes. */
export const withoutControls = (text: string): string =>
  unsafe.test(text) ? text.replace(/\r\n?/g, '\n').replace(everyUnsafe, '\ufffd') : text;

/**
 * Not escaped by JSON, but interpreted by terminals: DEL, C1, direction marks, unusual line breaks.
 */
const unsafeInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const safeJson = (json: string): string => json.replace(unsafeInJson, escaped);

/** Such terminals could interpret UTF-8 bytes as control characters. */
export const asciiOnly = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\p{M}\u200c\u200d]/gu, '')
    .replace(/…/g, '...')
    .replace(/[–—]/g, '-')
    .replace(/≤/g, '<=')
    .replace(/Δ/g, 'd')
    .replace(/[^\n\x20-\x7e]/gu, '?');
