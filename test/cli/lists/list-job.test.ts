import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { thesisList } from '../../../src/cli/commands/thesis-list.ts';
import { listJob } from '../../../src/cli/lists/list-job.ts';
import { readLine } from '../../../src/cli/program/read-line.ts';
import type { Context } from '../../../src/cli/run/context.ts';
import type { Sent } from '../../../src/contract/read-record.ts';
import { thesisCall } from '../../../src/core/pages/feeds.ts';
import { pageRow } from '../../../src/core/pages/post.ts';
import type { PageSource } from '../../../src/core/pages/source.ts';
import type { Planned } from '../../../src/core/spend/plan.ts';
import { thesisView } from '../../../src/output/views/thesis.ts';
import { openHome, withSandbox } from '../../e2e/harness.ts';
import { thesis } from '../../e2e/records.ts';
import { runJobOf } from '../job.ts';

const ROWS = 20;
const lookup: Planned = { id: 'user.handle', ask: { params: { handle: 'mira' } } };

/** A feed of `size` posts in memory, of which page number `broken` fails. */
class Feed {
  /** The cursors of the pages that were requested, and what was opened. */
  readonly asked: string[] = [];
  readonly #posts: readonly Sent[];
  readonly #broken: number | undefined;
  /** Whether the end is reported by an empty page only. */
  readonly #endsEmpty: boolean;

  constructor(size: number, broken?: number, endsEmpty = false) {
    this.#posts = Array.from({ length: size }, (_, at) => ({ ...thesis(at), likeCount: at % 7 }));
    this.#broken = broken;
    this.#endsEmpty = endsEmpty;
  }

  async open() {
    this.asked.push('open');
    const feed: PageSource = {
      page: async ({ before }) => {
        this.asked.push(before ?? 'first');
        if (this.asked.length - 1 === this.#broken)
          throw new Failure('limit', 'no more', { code: 'CEILING', hint: 'raise --max-cu' });
        const from = before === undefined ? 0 : Number(before.slice(1)) + 1;
        const posts = this.#posts.slice(from, from + ROWS);
        const rows = posts.map((post) => pageRow(post, 'platformCreatedAt'));
        const hasMore = this.#endsEmpty ? rows.length > 0 : from + ROWS < this.#posts.length;
        const next = hasMore ? (rows.at(-1)?.id ?? null) : null;
        return { rows, hasMore, nextBefore: next };
      },
      sizes: { step: ROWS, max: ROWS },
      stepCu: 0,
    };
    return { name: 'thesis', own: [feed], whole: feed, feedOf: () => 0, wanted: {}, among: {} };
  }
}

/** Runs the list of a line with a feed. */
async function runList(line: string, feed: Feed, { home = openHome(), env = {} } = {}) {
  const words = `thesis list ${line}`.trim();
  const read = await readLine(words.split(' '));
  if (!('command' in read)) throw new Error('the line asks for help');
  const flags = thesisList.parse([], read.parsed.flags as never);
  const build = (context: Context) =>
    listJob(context, flags, {
      view: thesisView,
      noun: ['thesis', 'theses'],
      symbolField: 'tokenSymbol',
      networkField: 'tokenNetwork',
      authorField: 'authorId',
      pageRows: ROWS,
      before: [lookup],
      page: thesisCall({}, { limit: ROWS }),
      wholePage: thesisCall({}, { limit: ROWS }),
      feeds: 1,
      feedNoun: 'author',
      open: () => feed.open(),
    });
  // A list with --since asks the service for its time.
  return await runJobOf(words, build, { sandbox: await withSandbox(), home, env });
}

const idsOf = (records: readonly Record<string, unknown>[]) => records.map(({ id }) => id);
const ids = (count: number, from = 0) => Array.from({ length: count }, (_, at) => `t${from + at}`);

describe('the plan of a list', () => {
  test.each<[string, number | null | undefined, number | null]>([
    ['', 1, 400],
    ['--limit 41', 3, 800],
    ['--all', null, null],
    ['--since 2020-01-01', null, null],
    ['--limit 40 --until 2030-01-01', null, null],
    ['--limit 40 --symbol WIF', null, null],
    ['--limit 40 --sort pnl', 2, 600],
    ['--limit 40 --count-by day', 1, 400],
    ['--limit 40 --all --count-by day', null, null],
  ])('of %j has the lookup, then its pages', async (line, pages, most) => {
    const ran = await runList(`${line} --dry-run -o ndjson`.trim(), new Feed(0));
    expect(ran.calls).toMatchObject([lookup, { id: 'thesis.all', times: pages }]);
    expect(ran.cost.most).toBe(most);
    expect(ran.exit).toBe(0);
  });

  test('is asked for with the number of rows', async () => {
    const ran = await runList('--limit 41 --dry-run', new Feed(0));
    expect(ran.question).toBe('Fetching up to 41 theses will cost N CU');
  });
});

describe('a list', () => {
  test('opens its feed once, reads page after page, and stops at its limit', async () => {
    const feed = new Feed(100);
    const ran = await runList('--limit 30 -o ndjson', feed);
    expect(feed.asked).toEqual(['open', 'first', 't19']);
    expect(idsOf(ran.records())).toEqual(ids(30));
    expect([ran.exit, ran.outcome]).toEqual([0, '30 theses']);
  });

  test('opens nothing in a dry run, or if the output cannot be written', async () => {
    for (const line of ['--dry-run', '--out none/there.ndjson']) {
      const feed = new Feed(5);
      await runList(line, feed);
      expect(feed.asked).toEqual([]);
    }
  });

  test.each<[string, readonly string[], string]>([
    ['--limit 70', ids(40), '--limit 30 --before t39'],
    ['--all --sort likeCount --max-cu 10k', ids(40), '--before t39'],
    ['--all --reverse', ids(40).toReversed(), '--before t39'],
  ])('that fails on its third page prints what was paid for: %s', async (line, printed, more) => {
    const ran = await runList(`${line} -o ndjson`, new Feed(100, 3));
    expect(ran.failure).toMatchObject({ code: 'CEILING' });
    const { hint = '' } = ran.failure as Failure;
    for (const words of more.split(/ (?=--)/)) expect(hint).toContain(words);
    const found = idsOf(ran.records());
    expect(line.includes('--sort') ? found.toSorted() : found).toEqual(
      line.includes('--sort') ? printed.toSorted() : printed,
    );
    const likes = ran.records().map(({ likeCount }) => Number(likeCount));
    if (line.includes('--sort')) expect(likes).toEqual(likes.toSorted((a, b) => b - a));
    expect(ran.outcome).toBe('40 theses');
  });

  test('that fails on its first page prints nothing, and does not say how to continue', async () => {
    const ran = await runList('--limit 70 -o ndjson', new Feed(100, 1));
    expect(ran.failure).toMatchObject({ code: 'CEILING', hint: 'raise --max-cu' });
    expect(ran.stdout).toBe('');
  });

  test('counts what it has read if it fails, without a way to continue that would count apart', async () => {
    const ran = await runList('--all --count-by tokenSymbol -o ndjson', new Feed(100, 3));
    expect(ran.failure).toMatchObject({ code: 'CEILING', hint: 'raise --max-cu' });
    expect(ran.records()).toEqual([{ tokenSymbol: 'WIF', posts: 40, authors: 1 }]);
  });

  test('gives up after 20 pages without a match if it has a limit', async () => {
    const feed = new Feed(1_000);
    const ran = await runList('--limit 5 --grep NONE -o ndjson', feed);
    expect(feed.asked).toHaveLength(1 + 20);
    expect([ran.exit, ran.stdout]).toEqual([0, '']);
    expect(ran.stderr).toContain('continue with --before t399');
  });

  test('is cut for an agent that gave no limit, but not in a file and not if it counts', async () => {
    const env = { CLAUDECODE: '1' };
    const cut = await runList('--since 2020-01-01 -o ndjson', new Feed(300), { env });
    expect(idsOf(cut.records())).toEqual(ids(200));
    expect(cut.stderr).toContain('stopped at 200 rows');
    const count = '--since 2020-01-01 --count-by tokenNetwork -o ndjson';
    const counted = await runList(count, new Feed(300), { env });
    expect(counted.records()).toMatchObject([{ posts: 300 }]);
  });

  test('certifies its file only if the rows are those of a stretch', async () => {
    for (const [line, posts, isCertified] of [
      ['--since 2020-01-01', 50, true],
      ['--since 2020-01-01', 0, true],
      ['--since 2020-01-01 --sort pnl --top 3', 50, false],
      ['--since 2020-01-01 --count-by day', 50, false],
      ['--since 2020-01-01 --count-by day', 0, false],
    ] as const) {
      const home = openHome();
      const ran = await runList(`${line} --out posts.ndjson`, new Feed(posts), { home });
      expect(ran.failure).toBeUndefined();
      expect(existsSync(join(home.path, 'posts.ndjson.trdr'))).toBe(isCertified);
    }
  });

  test('certifies the same stretch if an empty page reports the end', async () => {
    const certificates = await Promise.all(
      [false, true].map(async (endsEmpty) => {
        const home = openHome();
        await runList('--since 2020-01-01 --out p.ndjson', new Feed(50, undefined, endsEmpty), {
          home,
        });
        const text = readFileSync(join(home.path, 'p.ndjson.trdr'), 'utf8');
        const { readAt, feed, ...certificate } = JSON.parse(text);
        return certificate;
      }),
    );
    expect(certificates[0]).toMatchObject({ end: true, rows: 50 });
    expect(certificates[1]).toEqual(certificates[0]);
  });
});
