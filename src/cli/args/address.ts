import { Failure, usageError } from '../../base/failure.ts';
import { readSubject } from '../../core/lookup/subject.ts';

/** Validates the address that was given with a flag, before any request is sent. */
export async function addressOf(flag: '--token' | '--coin' | '--wallet', given: string): Promise<string> {
  try {
    return (await readSubject(given, 'wallet')).value;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(`${flag}: ${error.message}`, error.hint ?? 'copy the whole address');
  }
}
