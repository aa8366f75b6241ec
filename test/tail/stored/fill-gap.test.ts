import { expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { pageRow } from '../../../src/core/pages/post.ts';
import type { PageSource } from '../../../src/core/pages/source.ts';
import { GapFilling } from '../../../src/tail/stored/fill-gap.ts';
import { virtualClock } from '../../core/virtual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const PAGE = 20;
const at = (index: number) => NOW - index * 1_000;
const idsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `p${from + index}`);
const rows = Array.from({ length: 100 }, (_, index) =>
  pageRow({ id: `p${index}`, at: at(index) }, 'at'),
);

/** The pages of these posts, of which some were deleted, so that their ids are no cursors. */
function pagesWithout(deleted: readonly string[]) {
  const asked: (string | undefined)[] = [];
  const left = rows.filter(({ id }) => !deleted.includes(String(id)));
  const source: PageSource = {
    async page({ before }) {
      asked.push(before);
      const from = before === undefined ? 0 : left.findIndex(({ id }) => id === before) + 1;
      if (before !== undefined && from === 0)
        throw new Failure('usage', 'unknown id', { code: 'VALIDATION_ERROR', status: 400 });
      const page = left.slice(from, from + PAGE);
      const hasMore = from + PAGE < left.length;
      return { rows: page, hasMore, nextBefore: page.at(-1)?.id ?? null };
    },
    sizes: { step: PAGE, max: PAGE },
    stepCu: 200,
  };
  return { source, asked };
}

/** The post p40 was delivered, and p10 and p9 came after the gap. */
const ahead = [10, 9].map((index) => ({ id: `p${index}`, at: at(index) }));
const start = { id: 'p40', at: at(40) };

test.each<[string, readonly string[], readonly (string | undefined)[]]>([
  ['the newest post after it', [], ['p9']],
  ['another one, if that was deleted', ['p9'], ['p9', 'p10']],
  ['the newest page on, if all were deleted', ['p9', 'p10'], ['p9', 'p10', undefined]],
])('a gap is filled from %s', async (_, deleted, first) => {
  const { source, asked } = pagesWithout(deleted);
  const filling = new GapFilling(source, virtualClock(NOW));
  const { signal } = new AbortController();
  const filled = await filling.rows({ ahead }, start, undefined, signal);
  expect(asked.slice(0, first.length)).toEqual(first);
  expect(filled.map(({ id }) => id)).toEqual(idsOf(11, 41).reverse());
  expect(filling.has('p11')).toBe(true);
});

test('a gap is not filled in part, if no further cursor is accepted', async () => {
  const { source } = pagesWithout([]);
  const page: PageSource['page'] = async (ask, signal) => {
    if (ask.before === 'p9' || ask.before === undefined) return await source.page(ask, signal);
    throw new Failure('usage', 'unknown id', { code: 'VALIDATION_ERROR', status: 400 });
  };
  const filling = new GapFilling({ ...source, page }, virtualClock(NOW));
  const { signal } = new AbortController();
  await expect(filling.rows({ ahead }, start, undefined, signal)).rejects.toMatchObject({
    code: 'CURSOR_LOST',
  });
});
