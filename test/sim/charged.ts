import type { Failure } from '../../src/base/failure.ts';
import { isErrorCode } from '../../src/contract/errors.ts';
import { unbilled } from '../../src/core/client/service-errors.ts';

/** Whether the service may have charged a call that failed. It never charges 401, 403 and 429. */
export const mayBeCharged = ({ kind, code, status }: Failure): boolean =>
  kind === 'answer' ||
  code === 'BROKEN' ||
  code === 'NO_ANSWER' ||
  (kind === 'service' && status !== undefined && !isErrorCode(code) && !unbilled.has(status));
