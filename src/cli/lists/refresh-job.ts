import { usageError } from '../../base/failure.ts';
import { copySources } from '../../base/json.ts';
import { countText, group } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import type { Sent } from '../../contract/read-record.ts';
import { thesisCall } from '../../core/pages/feeds.ts';
import {
  cheaperWay,
  mostPages,
  type PostGroup,
  PostRefresh,
  type RecordedPost,
  type RefreshWay,
} from '../../core/pages/refresh.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { refreshedView } from '../../output/views/thesis.ts';
import { recordedPosts } from '../../verify/recorded-posts.ts';
import { serviceClock } from '../lookup/service-time.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';

/** Reads the posts of files from the service again. */
export async function refreshJob(
  context: Context,
  files: readonly string[],
  openOnly: boolean,
): Promise<CommandJob> {
  const { terminal } = context;
  const recorded = await recordedIn(context, files);
  const posts = openOnly ? recorded.filter((post) => !isClosed(post.record)) : recorded;
  const way = cheaperWay(posts, terminal.io.clock.now());
  const tally = new RowTally('thesis', 'theses');
  return {
    plan: {
      calls: way.groups.map(plannedPages),
      costs: (cost) => `Reading ${countText(posts.length, 'post')} again will cost ${cost}`,
    },
    view: refreshedView,
    tally,
    async print(out) {
      const refresh = await readAgain(context, way);
      const rows = posts.map((post) => refreshed(post, refresh));
      try {
        await out.print(refreshedView, withError(tally.counting(rows), refresh.failure));
      } finally {
        // Below a long table, the summary is still on the screen.
        report(context, posts, way, refresh);
      }
    },
  };
}

/** A group costs at least one page, and at most all pages that two walks may need. */
const plannedPages = (pages: PostGroup): Planned => ({
  ...thesisCall(pages.scope, { limit: THESIS_BLOCK }),
  times: mostPages(pages),
  least: cu.thesisBlock,
});

const isClosed = ({ closedAt }: Sent): boolean => typeof closedAt === 'number';

/**
 * The posts of the files, each once: as the last file has it, at the place where the first one has
 * it.
 */
async function recordedIn(
  { terminal }: Context,
  files: readonly string[],
): Promise<readonly RecordedPost[]> {
  const posts = new Map<string, RecordedPost>();
  let others = 0;
  for (const file of files) {
    let own = 0;
    let lines = 0;
    for await (const row of recordedPosts(file, 'platformCreatedAt', terminal.signal)) {
      lines++;
      if (!row || !isThesis(row.record)) continue;
      own++;
      posts.set(row.id, row);
    }
    // A part of a rotated file may be empty.
    if (own === 0 && lines > 0) throw withoutPosts(file);
    others += lines - own;
  }
  if (posts.size === 0) throw withoutPosts(files.join(', '));
  if (others > 0)
    terminal.notice(
      `skipped ${countText(others, 'line that is not a post', 'lines that are not posts')}`,
    );
  return [...posts.values()];
}

/** A record of anything else has an id too, such as that of a user. */
const isThesis = (record: Sent): boolean =>
  ['authorId', 'authorHandle', 'tokenAddress', 'platformCreatedAt'].some((name) => name in record);

const withoutPosts = (file: string) =>
  usageError(`no theses in ${file}`, 'pass an output of "trdr thesis tail" or "trdr thesis list"');

async function readAgain(context: Context, { groups }: RefreshWay): Promise<PostRefresh> {
  const { terminal, settings, service } = context;
  const progress = await openProgress(context);
  const planned = groups.reduce((sum, pages) => sum + mostPages(pages), 0);
  const refresh = new PostRefresh({
    client: await service.client(),
    clock: groups.length === 0 ? terminal.io.clock : await serviceClock(context),
    signal: terminal.signal,
    // With --max-cu, the user has set a limit of their own.
    pages: settings.maxCu === undefined ? planned : undefined,
    onGroup: (done) => progress.show('reading', done, groups.length),
  });
  try {
    await refresh.run(groups);
  } finally {
    progress.stop();
  }
  return refresh;
}

/** The post as it is now. One that was not read stays as it was recorded, without `gone`. */
function refreshed({ id, record }: RecordedPost, { present, gone }: PostRefresh): Sent {
  const now = present.get(id);
  if (now !== undefined) return copySources({ ...now, gone: false }, now);
  return gone.has(id) ? copySources({ ...record, gone: true }, record) : record;
}

/** Says what became of the posts, and which were not read. */
function report(
  { terminal }: Context,
  posts: readonly RecordedPost[],
  { unaddressed }: RefreshWay,
  { present, gone }: PostRefresh,
): void {
  const read = posts.flatMap(({ id, record }) => {
    const now = present.get(id);
    return now === undefined ? [] : [{ wasClosed: isClosed(record), isClosed: isClosed(now) }];
  });
  const count = (matches: (post: (typeof read)[number]) => boolean) =>
    group(read.filter(matches).length);
  const parts = [
    `${count((post) => post.isClosed && !post.wasClosed)} closed since`,
    `${count((post) => !post.isClosed)} still open`,
    `${count((post) => post.isClosed && post.wasClosed)} closed before`,
    `${group(gone.size)} gone`,
  ];
  // A result that needs no action would be noise in a mail from cron.
  if (terminal.io.stderr.isTTY === true) terminal.notice(parts.join(', '));
  if (unaddressed.length > 0)
    terminal.notice(
      `${countText(unaddressed.length, 'post')} not read: recorded without an author id and a token`,
    );
  const others = posts.length - read.length - gone.size - unaddressed.length;
  if (others > 0)
    terminal.notice(
      `${countText(others, 'post')} not read, and printed as recorded, without "gone"`,
    );
}

async function* withError<T>(
  rows: AsyncIterable<T>,
  error: unknown,
): AsyncGenerator<T, void, void> {
  yield* rows;
  if (error !== undefined) throw error;
}
