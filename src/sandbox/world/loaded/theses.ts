import type { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import { numbered, uuidOf } from '../address.ts';
import { thesisKeys } from '../feed-keys.ts';
import { thesisText } from '../generated/texts.ts';
import { hash } from '../hash.ts';
import type { FeedSource } from '../source.ts';
import { type Arrival, emptyBase } from '../timeline.ts';
import type { ThesisFilter } from '../types.ts';
import type { UserStore } from '../user-store.ts';

const salt = { id: 131, text: 132 };

/** Theses from a file. Live posts repeat the theses of the file with new ids, starting with the oldest. */
export function loadedTheses(
  seed: number,
  records: readonly Thesis[],
  users: UserStore,
): FeedSource<Thesis, ThesisFilter, ThesisFrameData> {
  const ids = numbered(seed, salt.id);
  const timeOf = (thesis: Thesis) => thesis.platformCreatedAt ?? 0;
  const oldestFirst = records.toSorted((a, b) => timeOf(a) - timeOf(b));
  let posts = 0;

  const arrivalOf = (thesis: Thesis): Arrival<Thesis> => ({
    id: thesis.id,
    time: timeOf(thesis),
    keys: thesisKeys(thesis.authorId, thesis.tokenAddress),
    make: () => thesis,
  });

  /** The live post for a file that contains no theses. */
  function generatedPost(): Thesis {
    const blank = { id: '', platformCreatedAt: null };
    const thesis = thesisText(hash(seed, salt.text, posts), { symbol: null, buying: true }, false);
    if (users.count === 0) return { ...blank, authorHandle: null, thesis };
    const author = users.record(posts % users.count);
    return { ...blank, authorId: author.id, authorHandle: author.handle, authorName: author.name, thesis };
  }

  return {
    base: emptyBase,
    select: () => undefined,
    initial: oldestFirst.map(arrivalOf),
    next(now) {
      const time = Math.floor(now);
      const record: ThesisFrameData = {
        ...(oldestFirst[posts % Math.max(1, oldestFirst.length)] ?? generatedPost()),
        id: uuidOf(ids.bytes(posts, 16)),
        platformCreatedAt: time,
        updatedAt: time,
      };
      posts++;
      return { record, arrival: arrivalOf(record) };
    },
  };
}
