import { Failure } from '../contract/failure.ts';
import type { Subject } from '../core/subject.ts';
import type { Context } from './context.ts';
import { readSubjects, type SubjectSource } from './input.ts';

/** How much of an input is read and checked before anything is paid for. */
const AHEAD = 10_000;

/** A command's subjects: the first ones checked, the rest still to come. */
export interface Subjects {
  readonly checked: readonly Subject[];
  /** The input goes on behind what was checked: nobody knows how far. */
  readonly endless: boolean;
  /** All of them in order, as texts. */
  all(): AsyncGenerator<string>;
}

/**
 * Reads ahead and refuses what can't be a subject, with its line, before anything costs. An input longer
 * than that goes on to be read as it is needed, and what is wrong in it becomes a record of its own.
 */
export async function gatherSubjects(
  source: SubjectSource,
  context: Pick<Context, 'io'>,
  read: (text: string) => Promise<Subject>,
): Promise<Subjects> {
  const input = readSubjects(source, context.io);
  const checked: Subject[] = [];
  let endless = false;
  for (;;) {
    const { value, done } = await input.next();
    if (done) break;
    try {
      checked.push(await read(value.text));
    } catch (error) {
      throw error instanceof Failure && value.line !== undefined ? onLine(value.line, error) : error;
    }
    endless = checked.length >= AHEAD;
    if (endless) break;
  }
  return {
    checked,
    endless,
    async *all() {
      for (const { text } of checked) yield text;
      if (endless) for await (const { text } of input) yield text;
    },
  };
}

/** Whether a command has exactly one answer: one subject, named on the command line. */
export const isSingle = (source: SubjectSource, { checked, endless }: Subjects): boolean =>
  checked.length === 1 && !endless && source.words.length === 1 && source.words[0] !== '-';

/** A failure of one line of an input, with its number. */
export const onLine = (line: number, { message, code, hint }: Failure) =>
  new Failure('usage', `line ${line}: ${message}`, { code, hint });
