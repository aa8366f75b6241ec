import { Failure } from '../../base/failure.ts';
import { readSubject, type Subject, type SubjectType } from '../../core/lookup/subject.ts';
import type { SubjectSource } from '../args/input.ts';
import { onLine, subjectsOf } from '../args/subjects.ts';
import type { Io } from '../io.ts';

/** The subjects of a run: their texts in order and, by position, those that are not handles. */
interface GatheredSubjects {
  readonly texts: readonly string[];
  readonly others: ReadonlyMap<number, Subject>;
}

/**
 * The distinct subjects of an input, each as it is spelled where it first occurs. Throws at an invalid subject, with its line
 * number, before anything is paid for.
 */
export async function gatherPnlSubjects(
  source: SubjectSource,
  io: Io,
  key: string | undefined,
  as?: SubjectType,
): Promise<GatheredSubjects> {
  const texts: string[] = [];
  const others = new Map<number, Subject>();
  const seen = new Set<string>();
  for await (const { text, line } of subjectsOf(source, io, key)) {
    let subject: Subject;
    try {
      subject = await readSubject(text, as);
    } catch (error) {
      throw error instanceof Failure && line !== undefined ? onLine(line, error) : error;
    }
    const { type, normal } = subject;
    // A handle has no spaces, so a name with a space cannot be equal to a handle.
    const name = type === 'handle' ? normal : `${type} ${normal}`;
    if (seen.has(name)) continue;
    seen.add(name);
    if (type !== 'handle') others.set(texts.length, subject);
    texts.push(subject.text);
  }
  return { texts, others };
}
