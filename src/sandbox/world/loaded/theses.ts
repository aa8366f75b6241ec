import type { Thesis, ThesisFrameData } from '../../../contract/records/thesis.ts';
import type { User } from '../../../contract/records/user.ts';
import { numbered, uuidOf } from '../address.ts';
import { thesisText } from '../generated/texts.ts';
import { keyOf, narrows, pageForm, thesisKeys } from '../generated/theses.ts';
import { hash } from '../hash.ts';
import { createFeed, emptyBase } from '../timeline.ts';
import type { World } from '../types.ts';

const salt = { id: 131, text: 132 };

/** Theses that were read from a file; what is posted live repeats them, oldest first, under new ids. */
export function loadedTheses(
  seed: number,
  records: readonly Thesis[],
  users: readonly User[],
): World['theses'] {
  const ids = numbered(seed, salt.id);
  const feed = createFeed<Thesis>(emptyBase);
  const timeOf = (thesis: Thesis) => thesis.platformCreatedAt ?? 0;
  const oldestFirst = records.toSorted((a, b) => timeOf(a) - timeOf(b));
  let posts = 0;

  function add(post: ThesisFrameData): void {
    const thesis = pageForm(post);
    feed.add({
      id: post.id,
      time: timeOf(thesis),
      keys: thesisKeys(post.authorId, post.tokenAddress),
      make: () => thesis,
    });
  }

  /** What a post says where the file has no thesis to repeat. */
  function freshWords(): Thesis {
    const author = users[posts % Math.max(1, users.length)];
    const blank = { id: '', platformCreatedAt: null };
    const thesis = thesisText(hash(seed, salt.text, posts), { symbol: null, buying: true }, false);
    return author
      ? { ...blank, authorId: author.id, authorHandle: author.handle, authorName: author.name, thesis }
      : { ...blank, authorHandle: null, thesis };
  }

  for (const thesis of oldestFirst) add(thesis);
  return {
    slice(filter, before, limit, now) {
      const narrow = narrows(filter) ? { picked: undefined, key: keyOf(filter) } : undefined;
      return feed.slice(narrow, before, limit, now);
    },
    post(now) {
      const time = Math.floor(now);
      const words = oldestFirst[posts % Math.max(1, oldestFirst.length)] ?? freshWords();
      const post: ThesisFrameData = {
        ...words,
        id: uuidOf(ids.bytes(posts, 16)),
        platformCreatedAt: time,
        updatedAt: time,
      };
      posts++;
      add(post);
      return post;
    },
    add,
    remove: feed.remove,
    withhold: feed.withhold,
    get count() {
      return feed.count;
    },
  };
}
