import { Failure } from '../../base/failure.ts';
import type { HttpAnswer } from '../../contract/ports.ts';
import { withoutKey } from './mask-key.ts';

/** Returns the key; throws a failure with a hint if the key is missing or invalid. */
export function requireKey(key: string | undefined): string {
  if (!key) {
    throw new Failure('auth', 'no API key configured', {
      code: 'NO_KEY',
      hint: 'run "trdr auth login", set TRDR_API_KEY, or try --sandbox',
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new Failure('auth', 'the API key has invalid characters', {
      code: 'BAD_KEY',
      hint: 'enter the key again, exactly as you received it: run "trdr auth login" or set TRDR_API_KEY',
    });
  }
  return key;
}

/** The failure for a request whose path, query or body contains the key. */
export const keyInRequest = (method: string) =>
  new Failure('usage', `this ${method} request would contain your API key; nothing was sent`, {
    code: 'KEY_IN_REQUEST',
    hint: 'check the command line and the input for the key',
  });

/** Masks the key in a response that contains it. */
export function scrubbed(answer: HttpAnswer, key: string | undefined): HttpAnswer {
  if (!key) return answer;
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, withoutKey(value, key)]);
  return { status: answer.status, headers: Object.fromEntries(headers), text: withoutKey(answer.text, key) };
}
