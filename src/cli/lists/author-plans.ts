import { Failure } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import type { ReadPosts } from '../../core/pages/saved-pages.ts';
import type { PositionPost } from '../../core/positions/positions.ts';
import { PLACEHOLDER } from '../../core/spend/plan.ts';
import type { SubjectPlan } from '../lookup/lookup-task.ts';
import type { PlannedPosts } from './feed-reader.ts';
import type { AskedTheses, Theses } from './served-theses.ts';

/** The posts of one author, and where they are from. */
export interface AuthorPosts extends ReadPosts<PositionPost> {
  readonly id: string;
  /** The record of the author; undefined if it was not looked up. */
  readonly user: Sent | undefined;
}

/** Who the authors are and what they posted, by the service or by files. */
export interface AuthorSource {
  readonly people: { planAll(subjects: readonly Subject[]): readonly LookupPlan[] };
  readonly theses: Theses;
  /** Which posts of each author are read. */
  readonly asked: Omit<AskedTheses, 'userId'>;
}

/** Plans the posts of authors; `answer` makes an answer of them. */
export async function planAuthors(
  { people, theses, asked }: AuthorSource,
  subjects: readonly Subject[],
  answer: (posts: AuthorPosts) => LookupAnswer,
): Promise<readonly SubjectPlan[]> {
  const postsOf = (userId: string) => theses.plan({ ...asked, userId });
  const plans: SubjectPlan[] = [];
  for (const person of people.planAll(subjects))
    plans.push(await planAuthor(person, postsOf, answer));
  return plans;
}

async function planAuthor(
  person: LookupPlan,
  postsOf: (userId: string) => Promise<PlannedPosts<PositionPost>>,
  answer: (posts: AuthorPosts) => LookupAnswer,
): Promise<SubjectPlan> {
  const { subject, answer: user } = person;
  if (user && !user.found) return { calls: person.calls, find: () => user };
  // An id is all that the posts of an author need, so it is not looked up.
  const isLookedUp = user !== undefined || subject.type !== 'id';
  const lookups = isLookedUp ? person.calls : [];
  const id = idOf(subject, user);
  const planned = await postsOf(id ?? PLACEHOLDER);
  if (id !== undefined && planned.saved) {
    const saved = answer({ ...planned.saved, id, user: user?.record });
    return { calls: [...lookups, ...planned.calls], answer: saved, find: () => saved };
  }
  const isSure = id !== undefined;
  return {
    calls: [...lookups, ...planned.calls.map((call) => (isSure ? call : { ...call, isSure }))],
    async find(signal) {
      const found = isLookedUp ? await person.find(signal) : undefined;
      if (found && !found.found) return found;
      const foundId = idOf(subject, found);
      if (foundId === undefined) return { found: null, failure: withoutId(subject.text) };
      const posts = isSure ? planned : await postsOf(foundId);
      return answer({ ...(await posts.read(signal)), id: foundId, user: found?.record });
    },
  };
}

function idOf({ type, value }: Subject, user: LookupAnswer | undefined): string | undefined {
  if (user?.found) return textOf(user.record['id']);
  return type === 'id' ? value : undefined;
}

const withoutId = (name: string): Failure =>
  new Failure('answer', `the record of ${name} has no user id`, {
    code: 'BAD_ANSWER',
    hint: 'pass a user id instead',
  });
