import { Failure } from '../../base/failure.ts';
import { trimText } from '../../base/trim-text.ts';
import { createMemo, type MemoOptions } from './memo.ts';
import { ordered } from './ordered.ts';
import type { Subject } from './subject.ts';

export type SubjectList = AsyncIterable<string | Subject> | Iterable<string | Subject>;

interface Answering<A, O> {
  readonly read: (text: string) => Subject | Promise<Subject>;
  readonly request: (subject: Subject, stop: AbortSignal) => A | Promise<A>;
  /** The answer for a text that is not a subject. */
  readonly unread: (failure: Failure) => A;
  readonly output: (subject: string, answer: A) => O;
}

const WINDOW = 8;

/**
 * Requests each distinct subject once, several concurrently, and yields one output per subject, in their
 * order.
 */
export function answerEach<A extends object, O>(
  subjects: SubjectList,
  { read, request, unread, output }: Answering<A, O>,
  memo: MemoOptions<A>,
  {
    window = WINDOW,
    signal,
  }: { readonly window?: number | undefined; readonly signal?: AbortSignal | undefined },
): AsyncGenerator<O, void, void> {
  const remember = createMemo(memo);
  const answer = (subject: Subject, stop: AbortSignal) =>
    andThen(
      remember(`${subject.type}:${subject.normal}`, () => request(subject, stop)),
      (found) => output(subject.text, found),
    );
  async function readAndAnswer(text: string, stop: AbortSignal): Promise<O> {
    let subject: Subject;
    try {
      subject = await read(text);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return output(trimText(text), unread(error));
    }
    return answer(subject, stop);
  }
  const work = (subject: string | Subject, stop: AbortSignal) =>
    typeof subject === 'string' ? readAndAnswer(subject, stop) : answer(subject, stop);
  return ordered(subjects, work, { window, signal, end: memo.disk?.place.close });
}

/** Unlike `await`, needs no promise for a value that is available. */
export const andThen = <T, U>(value: T | Promise<T>, use: (value: T) => U | Promise<U>): U | Promise<U> =>
  value instanceof Promise ? value.then(use) : use(value);
