import { describe, expect, test } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import { Density } from '../../../src/core/pages/page-size.ts';
import { readPages } from '../../../src/core/pages/read-pages.ts';
import type { AskedPage } from '../../../src/core/pages/source.ts';
import { KnownPosts } from '../../../src/tail/known-posts.ts';
import type { TailRow } from '../../../src/tail/post-row.ts';
import { timing } from '../../../src/tail/timing.ts';
import { Desk } from '../../../src/tail/walk/desk.ts';
import { type WalkedPage, type WalkSource, walkReading } from '../../../src/tail/walk/walk.ts';
import { virtualClock } from '../../core/virtual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const PAGE = 4;
const sizes = { step: PAGE, max: PAGE };

interface Feed {
  readonly source: WalkSource;
  /** The cursors of the pages that were requested. */
  readonly asked: (string | undefined)[];
}

/** Posts by authors, newest first, one per second. */
class Posts {
  all: readonly TailRow[];

  constructor(authors: string) {
    this.all = [...authors].map((author, index) => this.#post(author, index));
  }

  #post(author: string, index: number): TailRow {
    return { id: `${author}${index}`, at: NOW - index * 1_000, record: { author }, raw: null };
  }

  add(author: string): void {
    this.all = [this.#post(author, -1), ...this.all];
  }

  feed(
    isOf: (author: unknown) => boolean,
    change: (page: WalkedPage, nth: number) => WalkedPage = (page) => page,
  ): Feed {
    const asked: Feed['asked'] = [];
    const page = async ({ before }: AskedPage) => {
      asked.push(before);
      const own = this.all.filter(({ record }) => isOf(record['author']));
      const from = before === undefined ? 0 : own.findIndex(({ id }) => id === before) + 1;
      const rows = own.slice(from, from + PAGE);
      const hasMore = from + PAGE < own.length;
      return change({ rows, hasMore, nextBefore: rows.at(-1)?.id ?? null }, asked.length);
    };
    return { source: { sizes, page }, asked };
  }
}

const isAnyone = () => true;
const by = (author: string) => (other: unknown) => other === author;
const verifiedTo = (secondsAgo: number) => NOW - secondsAgo * 1_000;

const readingAt = (clock: Clock) =>
  walkReading({ clock, random: () => 0 }, timing, new KnownPosts(), new AbortController().signal);

/** Reads one walk of a desk down to its end; returns the posts of these authors. */
async function walk(
  desk: Desk,
  verified: number,
  wanted: string,
  clock = virtualClock(NOW),
): Promise<string[]> {
  const reading = readingAt(clock);
  const ids: string[] = [];
  const density = new Density();
  const expected = () => density.rowsDownTo(verified);
  for await (const { page, fresh } of readPages(desk.pages(verified, reading), reading, expected)) {
    density.take(fresh.map(({ at }) => at));
    for (const { id, record } of fresh)
      if (wanted.includes(String(record['author']))) ids.push(String(id));
    if (page.isProven) return ids;
  }
  throw new Error('the desk has not proved its end');
}

/** Nobody of the desk posts often, so that their own pages are fewer. */
const authors = `a--b--${'-'.repeat(60)}a-b-a-b-${'-'.repeat(20)}${'ab'.repeat(12)}`;

describe('a desk', () => {
  test('reads one page of the whole feed, and then the pages of its authors, each post once', async () => {
    const posts = new Posts(authors);
    const whole = posts.feed(isAnyone);
    const own = [posts.feed(by('a')), posts.feed(by('b'))];
    const sources = own.map(({ source }) => source);
    const clock = virtualClock(NOW);
    const ids = await walk(new Desk(whole.source, sources, 2), verifiedTo(80), 'ab', clock);
    const wanted = posts.all.filter(({ record }) => record['author'] !== '-');
    expect(whole.asked).toHaveLength(1);
    expect(ids.slice(0, 8)).toEqual(wanted.slice(0, 8).map(({ id }) => id));
    // Three verified posts of an author show that nothing older is needed.
    expect(own.map(({ asked }) => asked.length)).toEqual([2, 2]);
    // No page leads nowhere, so none is repeated.
    expect(clock.slept).toEqual([]);
  });

  test('reads on in the whole feed for as few rows, however long ago it was verified', async () => {
    const posts = new Posts(authors);
    const whole = posts.feed(isAnyone);
    const own = [posts.feed(by('a')), posts.feed(by('b'))];
    const desk = new Desk(
      whole.source,
      own.map(({ source }) => source),
      2,
    );
    const reading = readingAt(virtualClock(NOW));
    const pages = readPages(desk.pages(verifiedTo(80), reading), reading, () => 2 * PAGE);
    for await (const _ of pages) if (whole.asked.length === 3) break;
    expect(own.map(({ asked }) => asked)).toEqual([[], []]);
  });

  test('leaves a post that appears after its first page to the next walk', async () => {
    const posts = new Posts(authors);
    const whole = posts.feed(isAnyone, (page) => {
      posts.add('b');
      return page;
    });
    const own = [posts.feed(by('a')).source, posts.feed(by('b')).source];
    const ids = await walk(new Desk(whole.source, own, 2), verifiedTo(80), 'ab');
    expect(ids).not.toContain('b-1');
    expect(ids).toContain('b3');
  });

  test('believes the end of a feed when three answers report it', async () => {
    const posts = new Posts(authors);
    const isFalse = (page: WalkedPage, nth: number) =>
      nth === 2 || nth === 3 ? { rows: [], hasMore: false, nextBefore: null } : page;
    const own = [posts.feed(by('a'), isFalse).source, posts.feed(by('b')).source];
    const ids = await walk(new Desk(posts.feed(isAnyone).source, own, 2), verifiedTo(200), 'ab');
    const wanted = posts.all.filter(({ record }) => record['author'] !== '-');
    expect(ids).toEqual(wanted.map(({ id }) => id));
  });

  test('asks for the posts of somebody who never posted once, after the first walk', async () => {
    const posts = new Posts(authors);
    const nobody = posts.feed(by('c'));
    const own = [posts.feed(by('a')).source, nobody.source];
    const desk = new Desk(posts.feed(isAnyone).source, own, 2);
    await walk(desk, verifiedTo(80), 'a');
    expect(nobody.asked).toHaveLength(3);
    await walk(desk, verifiedTo(80), 'a');
    expect(nobody.asked).toHaveLength(4);
  });
});
