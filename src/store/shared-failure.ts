import { Failure } from '../base/failure.ts';
import { plainJson } from '../base/json-object.ts';

/** The text as which a failure is saved in the store. */
export const sharedFailure = ({
  kind,
  code,
  message,
  status,
  retryable,
  retryAfter,
  hint,
}: Failure): string => JSON.stringify({ kind, code, message, status, retryable, retryAfter, hint });

/**
 * The kinds of failures that machines share. Other failures, such as an exhausted budget, may affect only one
 * machine.
 */
const shared = new Set<string>(['service', 'network', 'answer', 'rate']);

/**
 * A failure that another machine received. Its text is shortened and cleaned, because anyone with write
 * access to the store can change it.
 */
export function readSharedFailure(text: string): Failure | undefined {
  const value = plainJson(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, code, message, status }: Partial<Record<string, unknown>> = { ...value };
  if (
    typeof kind !== 'string' ||
    !shared.has(kind) ||
    typeof code !== 'string' ||
    typeof message !== 'string'
  ) {
    return undefined;
  }
  return new Failure(
    kind === 'answer' ? 'answer' : 'service',
    message.replace(/[^\x20-\x7e]/g, '?').slice(0, 200),
    {
      code: code.replace(/[^A-Z0-9_]/g, '').slice(0, 40),
      retryable: true,
      ...(typeof status === 'number' && { status }),
      hint: 'try again later; another machine received this failure a moment ago',
    },
  );
}
