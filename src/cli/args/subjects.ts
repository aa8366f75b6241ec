import { Failure, usageError } from '../../base/failure.ts';
import { trimText } from '../../base/trim-text.ts';
import { isKey, keyAsSubject } from '../../core/client/mask-key.ts';
import {
  addressLink,
  isLink,
  listRefused,
  readSubject,
  type Subject,
  type SubjectType,
  subjectsIn,
} from '../../core/lookup/subject.ts';
import { readSubjects, type SubjectSource } from '../../input/subject-list.ts';
import { commandWith } from '../command-line.ts';
import type { Io } from '../io.ts';

/** The maximum number of subjects that are validated before the first paid call. */
const AHEAD = 10_000;

/** Where subjects are read from, and what reports how they were read. */
interface NoticedInput {
  readonly io: Io;
  readonly notice: (line: string) => void;
}

/** The subjects of a run, as far as they were validated before anything is paid for. */
export interface GatheredSubjects {
  readonly checked: readonly Subject[];
  /** Whether the input continues after the validated subjects. */
  readonly hasMore: boolean;
  /** Whether the command has exactly one answer: there is one subject, and it is an argument. */
  readonly isSingle: boolean;
  /** All subjects in order. Those that were not validated are texts. */
  all(): AsyncIterable<string | Subject> | Iterable<Subject>;
}

/**
 * Rejects an invalid subject before anything is paid for. In the rest of a long input, it becomes a
 * failed record.
 */
export async function gatherSubjects(
  source: SubjectSource,
  terminal: NoticedInput,
  key: string | undefined,
  read: (text: string) => Subject | Promise<Subject>,
): Promise<GatheredSubjects> {
  const input = subjectsOf(source, terminal.io, key);
  const checked: Subject[] = [];
  // Read one more subject than is validated, to find out whether the input continues.
  let beyond: string | undefined;
  for (;;) {
    const { value, done } = await input.next();
    if (done) break;
    if (checked.length >= AHEAD) {
      beyond = value.text;
      break;
    }
    const subject = parseSubject(value, read);
    checked.push(subject instanceof Promise ? await subject : subject);
  }
  noticeLinks(checked, terminal);
  async function* continued(first: string): AsyncGenerator<string | Subject> {
    yield* checked;
    yield first;
    for await (const { text } of input) yield text;
  }
  return {
    checked,
    hasMore: beyond !== undefined,
    isSingle: checked.length === 1 && isOneWord(source),
    all: () => (beyond === undefined ? checked : continued(beyond)),
  };
}

/** The distinct subjects, each as spelled where it first occurs. */
export async function distinctSubjects(
  source: SubjectSource,
  { io, notice }: NoticedInput,
  key: string | undefined,
  as: SubjectType | undefined,
): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  const seen = new Set<string>();
  for await (const line of subjectsOf(source, io, key)) {
    const subject = await parseSubject(line, (text) => readSubject(text, as));
    const { type, normal } = subject;
    // A handle has no spaces, so a name with a space cannot be equal to a handle.
    const name = type === 'handle' ? normal : `${type} ${normal}`;
    if (seen.has(name)) continue;
    seen.add(name);
    subjects.push(subject);
  }
  noticeLinks(subjects, { notice });
  return subjects;
}

/** Says what is looked up in place of a link. */
function noticeLinks(subjects: Iterable<Subject>, { notice }: Pick<NoticedInput, 'notice'>): void {
  const links = [...subjects].filter(isLink);
  const [first] = links;
  if (first === undefined) return;
  const others = links.length === 1 ? '' : `, and so are ${links.length - 1} other links`;
  const read = first.type === 'handle' ? `the handle @${first.value}` : `the wallet ${first.value}`;
  notice(`${first.text} is read as ${read}${others}`);
}

/** Throws at an API key, so that no record contains it, and at an argument that is a list. */
const subjectsOf = (source: SubjectSource, io: Io, key: string | undefined) =>
  readSubjects(source, io, ({ text, where }) => {
    const words = subjectsIn(text);
    // A record repeats its subject, so a pasted key must be found before there is any record.
    const word = words.find((item) => isKey(item, key));
    if (word !== undefined) {
      const failure = keyAsSubject(word, key);
      throw where === undefined ? failure : at(where, failure);
    }
    if (where !== undefined || words.length === 0 || words[0] === trimText(text)) return;
    const argv = io.argv.flatMap((argument) =>
      source.words.includes(argument) ? subjectsIn(argument) : [argument],
    );
    throw listRefused(text, `pass each subject as an argument, with: ${commandWith(argv)}`);
  });

/** Whether the only source is a subject on the command line. */
export const isOneWord = ({ words, isList = false }: SubjectSource): boolean =>
  !isList && words.length === 1 && words[0] !== '-';

/** Names the line of a subject that cannot be read. Most subjects need no promise. */
function parseSubject<T>(
  { text, where }: { readonly text: string; readonly where?: string },
  read: (text: string) => T | Promise<T>,
): T | Promise<T> {
  const fail = (error: unknown): never => {
    throw error instanceof Failure && where !== undefined ? at(where, error) : error;
  };
  try {
    const subject = read(text);
    return subject instanceof Promise ? subject.catch(fail) : subject;
  } catch (error) {
    return fail(error);
  }
}

const at = (where: string, { message, code, hint }: Failure) =>
  new Failure('usage', `${where}: ${message}`, { code, hint });

/** Where a user names a token. */
export type TokenPlace = '--token' | 'TOKEN';

/** Validates the address of a flag or an argument, before any request is sent. */
export async function addressOf(
  where: TokenPlace | '--coin' | '--wallet',
  text: string,
): Promise<string> {
  try {
    // A page of an explorer has the contract of a token, or its own page about it.
    const link = where === '--wallet' ? undefined : addressLink(trimText(text));
    return (await readSubject(link?.address ?? text, 'wallet')).value;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw usageError(`${where}: ${error.message}`, error.hint ?? 'copy the whole address');
  }
}
