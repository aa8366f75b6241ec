import type { Hint } from '../../base/failure.ts';
import { Failure } from '../../base/failure.ts';
import { trimText } from '../../base/trim-text.ts';
import { bareHandle, isMixed } from '../../contract/handles.ts';
import { ADDRESS_MAX, HANDLE_MAX } from '../../contract/limits.ts';
import { isKey, keyAsSubject } from '../client/mask-key.ts';

/** Detected from its format, or set with --as. */
export type SubjectType = 'handle' | 'wallet' | 'id';

export interface Subject {
  /** The text as the user wrote it, without white space and invisible characters at its ends. */
  readonly text: string;
  readonly type: SubjectType;
  /** What is sent to the service. */
  readonly value: string;
  /** The same for all spellings of a subject. */
  readonly normal: string;
}

/** The key by which a run knows a subject: the same for all its spellings. */
export const subjectKey = ({ type, normal }: Subject): string => `${type}:${normal}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** The first groups of a user id, and what may be left of the others. */
const CUT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]*$/i;
export const isUserId = (text: string): boolean => UUID.test(text);

const EVM = /^0x[0-9a-f]{40}$/i;

/** No handle, wallet or user id contains a comma or a semicolon. */
const SEPARATOR = /[,;]/;

export const subjectsIn = (text: string): string[] =>
  (SEPARATOR.test(text) ? text.split(SEPARATOR) : [text]).map(trimText).filter(Boolean);

/**
 * Throws at a mistyped address. Only a mixed-case EVM address needs a promise, to load the checksum
 * code.
 */
export function readSubject(
  given: string,
  as?: SubjectType | undefined,
): Subject | Promise<Subject> {
  const text = trimText(given);
  if (text === '')
    throw refused(
      text,
      'the subject is empty',
      'pass a value; a shell variable in the command may be empty',
    );
  const parts = subjectsIn(text);
  const key = parts.find((part) => isKey(part));
  if (key !== undefined) throw keyAsSubject(key);
  if (SEPARATOR.test(text)) {
    const example = parts[0] === undefined ? '' : `, such as ${parts[0]}`;
    throw listRefused(text, `write only one${example}; a file has one subject per line`);
  }
  const link = as === 'wallet' || as === undefined ? addressLink(text) : undefined;
  if (link) return walletIn(link, text);
  switch (as ?? typeOf(text)) {
    case 'id':
      return idOf(text);
    case 'wallet':
      return walletOf(text);
    default:
      return handleOf(text);
  }
}

export async function readHandle(text: string): Promise<Subject> {
  const subject = await readSubject(text);
  if (subject.type === 'handle') return subject;
  const what = subject.type === 'id' ? 'a user id' : 'a wallet';
  throw refused(
    subject.text,
    `expected a handle, got ${what}`,
    'use "trdr whois" to find the handle of a wallet or id; if this is a handle, write it as @handle',
  );
}

function typeOf(text: string): SubjectType {
  if (text.startsWith('@')) return 'handle';
  if (UUID.test(text)) return 'id';
  if (EVM.test(text) || isSolana(text)) return 'wallet';
  if (isShortened(text))
    throw refused(
      text,
      'this wallet is shortened',
      `${WHOLE_WALLET}; if this is a handle, write it as @handle`,
    );
  if (CUT_ID.test(text))
    throw refused(
      text,
      `a user id has 36 characters in five groups, got ${text.length}`,
      'copy the whole id; if this is a handle, write it as @handle',
    );
  const slip = slipOf(text);
  if (slip)
    throw refused(text, slip, 'correct the address; if this is a handle, write it as @handle');
  return 'handle';
}

/**
 * Whether a text is a wallet as tables and other programs show it: `AvQM…PyXR`, `0x862A...54b4`.
 */
export const isShortened = (text: string): boolean =>
  /^[0-9A-Za-z]+(?:…|\.{2,3})[0-9A-Za-z]*$/.test(text);

const WHOLE_WALLET = 'pass the whole wallet: tables show it with --wide, files and pipes always';

const isSolana = (text: string) =>
  text.length >= 32 && text.length <= 44 && base58Bytes(text) === 32;

/** Users choose no handle of so many random characters; an exception can be written with `@`. */
const CUT_HEX = 20;
const CUT_BASE58 = 28;

/** What is wrong with a text that is probably a mistyped address; undefined for other texts. */
function slipOf(text: string): string | undefined {
  const hex = /^0x([0-9a-f]+)$/i.exec(text)?.[1];
  // Short texts such as `0xMert` and `0xdeadbeef` are handles.
  if (hex && hex.length >= CUT_HEX)
    return `an EVM address has 40 hex digits after 0x, got ${hex.length}`;
  const evmLike = /^0x([0-9a-z]{40})$/i.exec(text)?.[1];
  const wrong = evmLike?.match(/[^0-9a-f]/gi);
  if (evmLike && wrong && wrong.length <= 2) return `"${wrong[0]}" is not a hex digit`;
  if (/^[0-9a-f]{40}$/i.test(text)) return 'an EVM address starts with 0x';
  return solanaSlip(text);
}

function solanaSlip(text: string): string | undefined {
  if (text.length < CUT_BASE58 || !/^[0-9A-Za-z]{1,64}$/.test(text)) return undefined;
  const isWholeLength = text.length >= 42 && text.length <= 46;
  const looksRandom = isWholeLength ? isMixed(text) : isRandom(text);
  if (isBase58(text)) {
    if (text.length !== 44 && !looksRandom) return undefined;
    return `a Solana address encodes 32 bytes, but these ${text.length} characters encode ${base58Bytes(text)}`;
  }
  const wrong = text.match(/[0OIl]/g) ?? [];
  return looksRandom && wrong.length <= 2
    ? `"${wrong[0]}" cannot occur in a Solana address`
    : undefined;
}

/** The kinds of characters change less often in words, even if these are capitalized. */
function isRandom(text: string): boolean {
  const changes = text.replace(/[0-9]+|[a-z]+|[A-Z]+/g, '-').length - 1;
  return isMixed(text) && changes >= 0.4 * (text.length - 1);
}

/** A page of an explorer or of a market about a wallet or token, whatever its host. */
const ADDRESS_PAGE =
  /^(?:https?:\/\/)?[\w-]+(?:\.[\w-]+)+\/(?:[\w-]+\/)*?(accounts?|address|profile|wallet|portfolio|token|coin|mint)\/(0x[0-9a-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})(?:[/?#].*)?$/i;

interface AddressLink {
  readonly address: string;
  /** Whether the page is about a token; its address is then not that of a trader. */
  readonly isToken: boolean;
}

/** The address in a link to a page about it. */
export function addressLink(text: string): AddressLink | undefined {
  const [, page = '', address] = ADDRESS_PAGE.exec(text) ?? [];
  return address === undefined ? undefined : { address, isToken: /^[tcm]/i.test(page) };
}

async function walletIn({ address, isToken }: AddressLink, text: string): Promise<Subject> {
  if (isToken)
    throw refused(
      text,
      'this is a link to a token, not to a trader',
      'pass the token with --token to "trdr thesis list", or a link to the wallet',
    );
  return { ...(await walletOf(address)), text };
}

function idOf(text: string): Subject {
  if (!UUID.test(text))
    throw refused(text, 'invalid user id: expected a UUID', 'copy the whole id, or remove --as id');
  const id = text.toLowerCase();
  return { text, type: 'id', value: id, normal: id };
}

function walletOf(text: string): Subject | Promise<Subject> {
  if (isSolana(text)) return { text, type: 'wallet', value: text, normal: text };
  if (isShortened(text)) throw refused(text, 'this wallet is shortened', WHOLE_WALLET);
  if (!EVM.test(text)) {
    const slip = slipOf(text);
    throw slip
      ? refused(text, slip, 'copy the address again')
      : refused(
          text,
          'expected a Solana address, or an EVM address that starts with 0x',
          'pass a complete address',
        );
  }
  const digits = text.slice(2);
  const subject = {
    text,
    type: 'wallet',
    value: `0x${digits}`,
    normal: `0x${digits.toLowerCase()}`,
  } as const;
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixed ? withChecksum(subject) : subject;
}

async function withChecksum(subject: Subject): Promise<Subject> {
  const { text } = subject;
  if ((await import('./checksum.ts')).holdsChecksum(text)) return subject;
  throw refused(text, 'invalid checksum: probably a mistyped character', 'copy the address again');
}

/**
 * X and its own pages; every other path of one word is the profile of a user, who may have posted.
 */
const PROFILE =
  /^(?:https?:\/\/)?(?:www\.|mobile\.)?(?:x|twitter)\.com\/@*(?!(?:home|explore|i|intent|login|messages|notifications|search|settings|share)\b)(\w+)(?:\/status\/.*)?\/?(?:[?#].*)?$/i;

/** Whether the subject was written as a link, in which trdr read the handle or wallet. */
export const isLink = ({ text }: Subject): boolean => text.includes('/');

function handleOf(text: string): Subject {
  const value = PROFILE.exec(text)?.[1] ?? bareHandle(text);
  if (value === '')
    throw refused(text, 'invalid handle: it is empty', 'write the handle after the @');
  if (value.includes('/'))
    throw refused(
      text,
      'expected a handle, got a link or a path',
      'write only the handle, such as @mira, or the address of the wallet',
    );
  if (value.length > HANDLE_MAX)
    throw refused(text, `a handle has at most ${HANDLE_MAX} characters`, 'copy only the handle');
  if (value.includes('…'))
    throw refused(
      text,
      'this handle is shortened',
      'pass the whole handle: tables show it with --wide, files and pipes always',
    );
  if (/[\0\ufffd]/.test(value))
    throw refused(text, 'the text is not valid UTF-8', 'save the file as UTF-8');
  // Unicode classes would take half a millisecond to compile.
  if (/[\s\0-\x1f\x7f-\x9f\ud800-\udfff]/u.test(value))
    throw refused(
      text,
      'a handle has no spaces or control characters',
      'write one handle, such as @mira; pass several handles as separate arguments',
    );
  // Emoji and some scripts need U+200C and U+200D.
  if (/[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/.test(value))
    throw refused(
      text,
      'the handle contains invisible characters',
      'type it instead of pasting it',
    );
  if (value === '.' || value === '..')
    throw refused(
      text,
      'a handle cannot consist of dots only',
      'write the whole handle, such as @mira',
    );
  return { text, type: 'handle', value, normal: value.toLowerCase() };
}

export const listRefused = (text: string, hint: Hint) =>
  refused(text, 'expected one subject, got a list', hint);

/** A long text is shortened, because it may contain a pasted key. */
const refused = (text: string, why: string, hint: Hint) => {
  const shown = text.length > ADDRESS_MAX / 2 ? `${text.slice(0, 12)}…` : text;
  return new Failure('usage', shown === '' ? why : `${shown}: ${why}`, {
    code: 'BAD_SUBJECT',
    hint,
  });
};

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const digitOf = new Map([...ALPHABET].map((character, digit) => [character, digit]));

const isBase58 = (text: string): boolean => /^[1-9A-HJ-NP-Za-km-z]+$/.test(text);

function base58Bytes(text: string): number | undefined {
  const bytes: number[] = [];
  for (const character of text) {
    let carry = digitOf.get(character);
    if (carry === undefined) return undefined;
    for (let index = 0; index < bytes.length; index++) {
      carry += (bytes[index] ?? 0) * 58;
      bytes[index] = carry & 0xff;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff);
  }
  // Each leading 1 is a zero byte.
  return bytes.length + (/^1*/.exec(text)?.[0].length ?? 0);
}
