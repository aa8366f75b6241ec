import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { trimText } from '../../base/trim-text.ts';
import type { RunAnswers } from '../../contract/answer-ports.ts';
import { errorFields } from './lookup.ts';
import { createMemo } from './memo.ts';
import { ordered } from './ordered.ts';
import type { Resolver } from './resolve.ts';
import type { Resolved, ResolveOutput } from './resolve-record.ts';
import { readSubject, type Subject } from './subject.ts';

export interface ResolveAllOptions {
  readonly signal?: AbortSignal | undefined;
  /** How many handles are resolved concurrently. */
  readonly window?: number;
  /**
   * Temporary storage on disk for the oldest answers, which do not fit in memory; `resolveAll` closes it at the
   * end. Without it, they are dropped.
   */
  readonly older?: RunAnswers | undefined;
}

/** Resolves handles concurrently and yields one record for each, in their order. */
export function resolveAll(
  handles: AsyncIterable<string | Subject> | Iterable<string | Subject>,
  resolve: Resolver,
  { signal, window = WINDOW, older }: ResolveAllOptions = {},
): AsyncGenerator<Resolved, void, void> {
  const remember = createMemo<Resolved>({
    size: MEMORY,
    disk: older && {
      place: older,
      // A failure is not stored: the handle is requested again.
      write: ({ record, failure }) => (failure ? undefined : record),
      read: (record) => (isResolveOutput(record) ? { record } : undefined),
    },
  });
  const resolveOne = async (subject: Subject, stop: AbortSignal): Promise<Resolved> => {
    const { record, failure } = await remember(subject.normal, () => resolve(subject, stop));
    return { record: { ...record, subject: subject.text }, failure };
  };
  const work = async (handle: string | Subject, stop: AbortSignal): Promise<Resolved> => {
    if (typeof handle !== 'string') return resolveOne(handle, stop);
    let subject: Subject;
    try {
      subject = await readHandle(handle);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const record = { subject: trimText(handle), found: null, error: errorFields(error) } as const;
      return { record, failure: error };
    }
    return resolveOne(subject, stop);
  };
  return ordered(handles, work, { window, signal, end: older?.close });
}

const isResolveOutput = (value: unknown): value is ResolveOutput =>
  isRecord(value) && typeof value['subject'] === 'string' && typeof value['found'] === 'boolean';

/** Parses a handle; throws if the text is a wallet address or a user id. */
export async function readHandle(text: string): Promise<Subject> {
  const subject = await readSubject(text);
  if (subject.type === 'handle') return subject;
  const what = subject.type === 'id' ? 'a user id' : 'a wallet';
  throw new Failure('usage', `${subject.text}: expected a handle, got ${what}`, {
    code: 'BAD_SUBJECT',
    hint: 'use "trdr whois" to find the handle of a wallet or id; if this is a handle, write it as @handle',
  });
}

const WINDOW = 8;
const MEMORY = 10_000;
