import { Failure } from '../../base/failure.ts';

/** Which of the service's worlds a key is for, as far as its form tells. */
export type KeyKind = 'live' | 'test' | 'unknown';

export function keyKind(key: string): KeyKind {
  const kind = /^[A-Za-z0-9]+_(live|test)_/.exec(key)?.[1];
  return kind === 'live' || kind === 'test' ? kind : 'unknown';
}

/** The key without the space around it, or a failure: what else it may be is for the service to say. */
export function checkKeyFormat(given: string, where = 'the key'): string {
  const key = given.trim();
  // Anything else could not stand in a header, or would end it.
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new Failure('auth', key === '' ? `${where} is empty` : `${where} has invalid characters`, {
    code: 'BAD_KEY',
    hint: 'run "trdr auth login" and paste the key exactly as you received it',
  });
}
