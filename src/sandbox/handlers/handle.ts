import { normalHandle } from '../../contract/endpoints.ts';

/** What is wrong with a handle; null where nothing is. */
export function flawOfHandle(text: string): string | null {
  if (normalHandle(text) === '') return 'handle: nothing but an @ or blanks.';
  return /[\s\p{Cc}]/u.test(text) ? 'handle: holds blanks or control characters.' : null;
}
