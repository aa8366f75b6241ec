import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { answerEach, type SubjectList } from './answer-each.ts';
import { errorFields, type LookupOptions } from './lookup.ts';
import type { Resolver } from './resolve.ts';
import type { Resolved, ResolveOutput } from './resolve-record.ts';
import { readSubject, type Subject } from './subject.ts';

export const resolveAll = (
  handles: SubjectList,
  resolve: Resolver,
  { signal, window, older }: Pick<LookupOptions, 'signal' | 'window' | 'older'> = {},
): AsyncGenerator<Resolved, void, void> =>
  answerEach<Resolved, Resolved>(
    handles,
    {
      read: readHandle,
      request: resolve,
      unread: (failure) => ({ record: { subject: '', found: null, error: errorFields(failure) }, failure }),
      output: (subject, { record, failure }) => ({ record: { ...record, subject }, failure }),
    },
    {
      size: MEMORY,
      disk: older && {
        place: older,
        // The handle is requested again.
        write: ({ record, failure }) => (failure ? undefined : record),
        read: (record) => (isResolveOutput(record) ? { record } : undefined),
      },
    },
    { window, signal },
  );

const isResolveOutput = (value: unknown): value is ResolveOutput =>
  isRecord(value) && typeof value['subject'] === 'string' && typeof value['found'] === 'boolean';

/** Throws if the text is a wallet address or a user id. */
export async function readHandle(text: string): Promise<Subject> {
  const subject = await readSubject(text);
  if (subject.type === 'handle') return subject;
  const what = subject.type === 'id' ? 'a user id' : 'a wallet';
  throw new Failure('usage', `${subject.text}: expected a handle, got ${what}`, {
    code: 'BAD_SUBJECT',
    hint: 'use "trdr whois" to find the handle of a wallet or id; if this is a handle, write it as @handle',
  });
}

const MEMORY = 10_000;
