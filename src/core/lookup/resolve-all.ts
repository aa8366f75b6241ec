import { Failure } from '../../base/failure.ts';
import { trimText } from '../../base/trim-text.ts';
import type { Overflow } from '../../contract/answer-ports.ts';
import { readSavedAnswer, writeAnswer } from './answer-text.ts';
import { errorFields } from './lookup.ts';
import { createMemo } from './memo.ts';
import { ordered } from './ordered.ts';
import type { Resolver } from './resolve.ts';
import type { Resolved } from './resolve-record.ts';
import { readSubject, type Subject } from './subject.ts';

export interface ResolveAllOptions {
  readonly signal?: AbortSignal | undefined;
  /** How many handles are resolved concurrently. */
  readonly window?: number;
  /**
   * Temporary storage on disk for the oldest answers, which do not fit in memory; `resolveAll` closes it at the
   * end. Without it, they are dropped.
   */
  readonly overflow?: Overflow | undefined;
}

/** Resolves handles concurrently and yields one record for each, in their order. */
export function resolveAll(
  handles: AsyncIterable<string | Subject> | Iterable<string | Subject>,
  resolve: Resolver,
  { signal, window = WINDOW, overflow }: ResolveAllOptions = {},
): AsyncGenerator<Resolved, void, void> {
  const remember = createMemo<Resolved>({
    size: MEMORY,
    overflow: overflow && { place: overflow, write: writeAnswer, read: readSavedAnswer },
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
  return ordered(handles, work, { window, signal, end: overflow?.close });
}

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
