import { Failure } from '../../base/failure.ts';
import type { ExitCode } from '../exit.ts';

export type Outcomes =
  | { readonly found: true }
  | { readonly found: false; readonly code: string }
  | { readonly found: null; readonly failure?: Failure | undefined };

export function createLookupTally() {
  let found = 0;
  let missing = 0;
  let failed = 0;
  let pending = 0;
  let first: Failure | undefined;
  let local: Failure | undefined;
  return {
    add(answer: Outcomes): void {
      if (answer.found === true) found++;
      else if (answer.found === null) {
        failed++;
        first ??= answer.failure;
        if (answer.failure?.kind === 'local') local ??= answer.failure;
      } else if (answer.code === 'PENDING') pending++;
      else missing++;
    },
    get found(): number {
      return found;
    },
    /** The subjects that were not found, and those without an answer yet. */
    get missing(): number {
      return missing + pending;
    },
    get failed(): number {
      return failed;
    },
    get text(): string {
      const parts = [`${found} of ${found + missing + failed + pending} found`];
      if (pending > 0) parts.push(`${pending} without an answer yet`);
      if (failed > 0) parts.push(`${failed} failed`);
      return parts.join(', ');
    },
    get total(): number {
      return found + missing + failed + pending;
    },
    /** Throws the first failure if all subjects failed, and a failure of this machine, such as a full disk, if any did. */
    exit(strict: boolean): ExitCode {
      if (first && failed === found + missing + failed + pending) throw first;
      if (local) {
        const total = found + missing + failed + pending;
        throw new Failure('local', `${failed} of ${total} subjects failed: ${local.message}`, local);
      }
      if (strict && found < found + missing + failed + pending) {
        const waiting = pending > 0 ? `${pending} without an answer yet, ` : '';
        throw new Failure('strict', `${missing} missing, ${waiting}${failed} failed, ${found} found`, {
          code: 'STRICT',
          hint: 'the records show the result for each subject; omit --strict to accept incomplete results',
        });
      }
      if (found > 0) return 0;
      if (pending > 0) return 8;
      return missing > 0 ? 3 : 0;
    },
  };
}
