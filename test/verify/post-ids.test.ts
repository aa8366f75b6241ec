import { expect, test } from 'vitest';
import { PostIds } from '../../src/verify/post-ids.ts';

const idsOf = (names: readonly string[]): PostIds => {
  const ids = new PostIds();
  for (const name of names) ids.add(Buffer.from(name));
  return ids;
};

test.each([
  ['nothing', [], 0],
  ['one post', ['a'], 0],
  ['a post again, at once and later', ['a', 'a', 'b', 'a'], 2],
])('counts what was added again: %s', (_, names, repeated) => {
  expect(idsOf(names).countRepeated()).toBe(repeated);
});

test('counts posts of several files once a file, however many there are', () => {
  const many = Array.from({ length: 70_000 }, (_, index) => `post ${index}`);
  const all = new PostIds();
  all.addAll(idsOf(['post 1', 'post 1', 'other']));
  all.addAll(idsOf(many));
  expect(all.countRepeated()).toBe(1);
  all.addAll(idsOf(many.slice(0, 500)));
  expect(all.countRepeated()).toBe(501);
});
