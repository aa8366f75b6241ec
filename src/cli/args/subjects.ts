import { Failure } from '../../base/failure.ts';
import { isKey, keyAsSubject } from '../../core/client/mask-key.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { Context } from '../context.ts';
import { type InputFlags, readSubjects, type SubjectSource } from './input.ts';

/** How many subjects are read and validated before anything is paid for. */
const AHEAD = 10_000;

/** The subjects of a command: the first ones validated, the rest not read yet. */
export interface Subjects {
  readonly checked: readonly Subject[];
  /** The input is longer than the validated part, by an unknown number of subjects. */
  readonly endless: boolean;
  /** All subjects in order, as text. */
  all(): AsyncGenerator<string>;
}

/**
 * Reads ahead and rejects invalid subjects with their line number before anything is paid for. The rest of
 * a longer input is read as needed; an invalid subject in it becomes a record.
 */
export async function gatherSubjects(
  source: SubjectSource,
  context: Pick<Context, 'io' | 'settings'>,
  read: (text: string) => Promise<Subject>,
): Promise<Subjects> {
  const input = subjectsOf(source, context);
  const checked: Subject[] = [];
  // The first subject after the validated part: it distinguishes longer input from input of exactly that
  // length.
  let beyond: InputFlags | undefined;
  for (;;) {
    const { value, done } = await input.next();
    if (done) break;
    if (checked.length >= AHEAD) {
      beyond = value;
      break;
    }
    try {
      checked.push(await read(value.text));
    } catch (error) {
      throw error instanceof Failure && value.line !== undefined ? onLine(value.line, error) : error;
    }
  }
  return {
    checked,
    endless: beyond !== undefined,
    async *all() {
      for (const { text } of checked) yield text;
      if (beyond === undefined) return;
      yield beyond.text;
      for await (const { text } of input) yield text;
    },
  };
}

/**
 * The input up to a line that is an API key. The key is rejected wherever it is, and no record repeats it.
 */
export async function* subjectsOf(
  source: SubjectSource,
  { io, settings }: Pick<Context, 'io' | 'settings'>,
): AsyncGenerator<InputFlags> {
  for await (const item of readSubjects(source, io)) {
    if (!isKey(item.text.trim(), settings.key)) yield item;
    else {
      const failure = keyAsSubject(item.text.trim(), settings.key);
      throw item.line === undefined ? failure : onLine(item.line, failure);
    }
  }
}

/** Whether a command has exactly one answer: a single subject, given on the command line. */
export const isSingle = (source: SubjectSource, { checked, endless }: Subjects): boolean =>
  checked.length === 1 && !endless && source.words.length === 1 && source.words[0] !== '-';

/** A failure of one line of an input, with its number. */
export const onLine = (line: number, { message, code, hint }: Failure) =>
  new Failure('usage', `line ${line}: ${message}`, { code, hint });
