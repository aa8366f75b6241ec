import { Failure } from '../../base/failure.ts';
import { ADDRESS_MAX, HANDLE_MAX } from '../../contract/limits.ts';
import { isKey, keyAsSubject } from '../client/mask-key.ts';
import { base58Bytes, isBase58 } from './base58.ts';

/** What a subject is: told by its form, or said by the user. */
export type SubjectForm = 'handle' | 'wallet' | 'id';

/** One who is asked about. */
export interface Subject {
  /** As it was given, without the space around it. */
  readonly text: string;
  readonly form: SubjectForm;
  /** As it is sent. */
  readonly value: string;
  /** Equal for all spellings of the same subject of one form. */
  readonly normal: string;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Whether a text has the form of a user id. */
export const isUserId = (text: string): boolean => UUID.test(text);

const EVM = /^0x[0-9a-f]{40}$/i;

/**
 * Tells a subject by its form: a user id, a wallet or a handle. What is an address but for a slip is refused
 * with what is wrong with it, and so is a mixed-case EVM address whose checksum does not hold.
 */
export async function readSubject(given: string, as?: SubjectForm | undefined): Promise<Subject> {
  const text = given.trim();
  if (text === '') throw refused(text, 'an empty subject');
  if (isKey(text)) throw keyAsSubject(text);
  switch (as ?? formOf(text)) {
    case 'id':
      return idOf(text);
    case 'wallet':
      return await walletOf(text);
    default:
      return handleOf(text);
  }
}

function formOf(text: string): SubjectForm {
  if (text.startsWith('@')) return 'handle';
  if (UUID.test(text)) return 'id';
  if (EVM.test(text) || isSolana(text)) return 'wallet';
  const slip = slipOf(text);
  if (slip)
    throw refused(
      text,
      slip,
      'correct it; if it is a handle all the same, give it as @handle or with --as handle',
    );
  return 'handle';
}

const isSolana = (text: string) => text.length >= 32 && text.length <= 44 && base58Bytes(text) === 32;

/** What is wrong with something that was meant for an address; undefined where it was not. */
function slipOf(text: string): string | undefined {
  const hex = /^0x([0-9a-f]+)$/i.exec(text)?.[1];
  // `0xMert` and `0xdead` are handles; a text almost as long as an address is a typo.
  if (hex && hex.length >= 36) return `an EVM address has 40 hex digits after 0x, this has ${hex.length}`;
  const evmLike = /^0x([0-9a-z]{40})$/i.exec(text)?.[1];
  const wrong = evmLike?.match(/[^0-9a-f]/gi);
  if (evmLike && wrong && wrong.length <= 2) return `"${wrong[0]}" is no hex digit`;
  if (/^[0-9a-f]{40}$/i.test(text)) return 'an EVM address begins with 0x';
  return solanaSlip(text);
}

function solanaSlip(text: string): string | undefined {
  if (!/^[0-9A-Za-z]{42,46}$/.test(text)) return undefined;
  // A handle of such a length that mixes cases and digits the way an address does has yet to be seen.
  const looksRandom = /[0-9]/.test(text) && /[a-z]/.test(text) && /[A-Z]/.test(text);
  if (isBase58(text)) {
    if (text.length !== 44 && !looksRandom) return undefined;
    return `a Solana address stands for 32 bytes, these ${text.length} characters for ${base58Bytes(text)}`;
  }
  const wrong = text.match(/[0OIl]/g) ?? [];
  return looksRandom && wrong.length <= 2 ? `"${wrong[0]}" is no character of a Solana address` : undefined;
}

function idOf(text: string): Subject {
  if (!UUID.test(text)) throw refused(text, 'a user id is a UUID');
  return { text, form: 'id', value: text, normal: text.toLowerCase() };
}

async function walletOf(text: string): Promise<Subject> {
  if (isSolana(text)) return { text, form: 'wallet', value: text, normal: text };
  if (!EVM.test(text)) {
    throw refused(text, slipOf(text) ?? 'this is neither a Solana address nor an EVM address with its 0x');
  }
  const digits = text.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  if (isMixed && !(await import('./checksum.ts')).holdsChecksum(text)) {
    throw refused(text, 'its checksum does not hold: a character is wrong', 'copy it anew');
  }
  return { text, form: 'wallet', value: `0x${digits}`, normal: `0x${digits.toLowerCase()}` };
}

function handleOf(text: string): Subject {
  const value = text.replace(/^@/, '');
  if (value === '') throw refused(text, 'a handle has at least one character');
  if (value.length > HANDLE_MAX) throw refused(text, `a handle has at most ${HANDLE_MAX} characters`);
  if (value.includes('://')) throw refused(text, 'this is a link', 'give the handle alone');
  if (/[\s\p{Cc}\p{Cs}]/u.test(value)) throw refused(text, 'a handle has no spaces or control characters');
  if (value === '.' || value === '..') throw refused(text, 'no handle is made of dots alone');
  return { text, form: 'handle', value, normal: value.toLowerCase() };
}

/** The first characters are enough to find it again, and a key pasted by mistake stays hidden. */
const refused = (text: string, why: string, hint?: string) => {
  const shown = text.length > ADDRESS_MAX / 2 ? `${text.slice(0, 12)}…` : text;
  return new Failure('usage', shown === '' ? why : `${shown}: ${why}`, { code: 'BAD_SUBJECT', hint });
};
