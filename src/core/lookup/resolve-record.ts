import type { Failure } from '../../base/failure.ts';
import type { SharedAnswer } from '../../contract/answer-ports.ts';
import type { Known, Sent } from '../../contract/read-record.ts';
import type { Pending } from '../../contract/records/user.ts';
import { answerOf, type ErrorFields, errorFields } from './lookup.ts';
import type { Subject } from './subject.ts';

/** A plain lookup (held), a resolve that needed no live search (cached), or a live search. */
type ResolveSource = 'held' | 'cached' | 'live';

export type ResolveOutput =
  | ({ readonly subject: string; readonly found: true; readonly source: ResolveSource } & Sent)
  | { readonly subject: string; readonly found: false; readonly code: string }
  | PendingRecord
  | { readonly subject: string; readonly found: null; readonly error: ErrorFields };

type PendingRecord = {
  readonly subject: string;
  readonly found: false;
  readonly code: 'PENDING';
  readonly reason: string;
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number;
  readonly position?: number;
};

export type PendingState = Pick<PendingRecord, 'reason' | 'retryable' | 'retryAfterSeconds' | 'position'>;

export interface Resolved {
  readonly record: ResolveOutput;
  readonly failure?: Failure | undefined;
}

/** The status means "no answer yet", even if the body is incomplete. */
export const readPending = ({
  reason,
  retryable,
  retryAfterSeconds,
  position,
}: Known<Pending>): PendingState => ({
  reason: reason ?? 'unknown',
  retryable: retryable ?? reason !== 'no_preview',
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  ...(position === undefined ? {} : { position }),
});

export function found({ text: subject }: Subject, user: Sent, source: ResolveSource): Resolved {
  const first = { subject, found: true, source } as const;
  return { record: Object.assign({ subject, found: true, source, ...user }, first) };
}

/** In the format in which machines share it. */
export function shareable({ record, failure }: Resolved, time: number): SharedAnswer | Failure | undefined {
  if (failure) return failure;
  if (record.found === null) return undefined;
  if (!record.found) return { time, status: record.code === 'PENDING' ? 202 : 404, record };
  const { subject: _, found: __, source: ___, ...user } = record;
  return { time, status: 200, record: user };
}

export function refused(subject: Subject, error: unknown, now: number): Resolved {
  const answer = answerOf(error, now);
  if (answer.found === null) return refusedBy(subject, answer.failure);
  return { record: { subject: subject.text, found: false, code: answer.code } };
}

export const refusedBy = (subject: Subject, failure: Failure): Resolved => ({
  record: { subject: subject.text, found: null, error: errorFields(failure) },
  failure,
});

export function pendingRecord(
  { text: subject }: Subject,
  { reason, retryable, retryAfterSeconds, position }: PendingState,
): PendingRecord {
  return {
    subject,
    found: false,
    code: 'PENDING',
    reason,
    retryable,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(position === undefined ? {} : { position }),
  };
}
