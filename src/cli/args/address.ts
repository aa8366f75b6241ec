import { Failure, usageError } from '../../base/failure.ts';
import { readSubject } from '../../core/lookup/subject.ts';

/** The address of a token, a coin or a wallet that a flag names, validated before any request. */
export async function addressOf(flag: '--token' | '--coin' | '--wallet', given: string): Promise<string> {
  try {
    return (await readSubject(given, 'wallet')).value;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(`${flag}: ${error.message}`, error.hint);
  }
}
