import { usageError } from '../../base/failure.ts';
import { copySources, parseJson } from '../../base/json.ts';
import { isRecord } from '../../base/json-object.ts';
import { countText, group, unitsText } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import { closedAtOf, type Sent } from '../../contract/read-record.ts';
import { thesisCall, timeFields } from '../../core/pages/feeds.ts';
import { postIdOf, withoutFutureTime } from '../../core/pages/post.ts';
import {
  fewestPages,
  mostPages,
  type PostGroup,
  PostRefresh,
  pagesOf,
  type RecordedPost,
  type RefreshWays,
  refreshWays,
} from '../../core/pages/refresh.ts';
import { positionPosts } from '../../core/positions/positions.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { type Fate, fateOf, refreshedView } from '../../output/views/thesis.ts';
import { feedOf } from '../../tail/file/position-file.ts';
import { type TailRow, tailRow } from '../../tail/post-row.ts';
import { certificateOf } from '../../verify/scan.ts';
import { serviceClock } from '../lookup/service-time.ts';
import type { Context } from '../run/context.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import { openProgress } from '../run/progress.ts';
import { isThesis, thesesIn, withoutTheses } from './file-posts.ts';
import { withFailure } from './row-order.ts';
import { wayText } from './way-text.ts';

/** Reads the posts of files from the service again. */
export async function refreshJob(
  context: Context,
  files: readonly string[],
  openOnly: boolean,
): Promise<CommandJob> {
  const { terminal } = context;
  for (const file of files) checkService(file, context);
  const recorded = await recordedIn(context, files);
  const posts = openOnly ? recorded.filter((post) => !isClosed(post.record)) : recorded;
  const ways = refreshWays(posts, terminal.io.clock.now());
  const tally = new RowTally('thesis', 'theses');
  const before = new Map(posts.map(({ id, record }) => [id, record]));
  const view = refreshedView((post) => before.get(postIdOf(post) ?? ''));
  return {
    plan: {
      calls: plannedCalls(ways),
      costs: (cost) => `Reading ${countText(posts.length, 'post')} again will cost ${cost}`,
    },
    view,
    tally,
    async print(out) {
      const refresh = await readAgain(context, ways);
      const rows = posts.map((post) => refreshed(post, refresh));
      try {
        await out.print(view, withFailure(tally.counting(rows), refresh.failure));
      } finally {
        // Below a long table, the summary is still on the screen.
        const fates = posts.map(({ id, record }, at) => ({ id, fate: fateOf(record, rows[at]) }));
        report(context, ways, fates);
      }
    },
  };
}

/** A run reads no more pages of the whole feed than the groups would have taken. */
function plannedCalls({ whole, groups }: RefreshWays): readonly Planned[] {
  const own = groups.map(plannedPages);
  if (whole === undefined) return own;
  const least = fewestPages(whole.posts) * cu.thesisBlock;
  const look = { ...thesisCall({}, { limit: THESIS_BLOCK }), times: whole.pages, least };
  return [look, ...own.map((pages) => ({ ...pages, least: 0 }))];
}

/** A group costs at least one page, and at most all pages that two walks may need. */
const plannedPages = (pages: PostGroup): Planned => ({
  ...thesisCall(pages.scope, { limit: THESIS_BLOCK }),
  times: mostPages(pages),
  least: cu.thesisBlock,
});

/** Another service has other posts, so these would all be called gone. */
function checkService(file: string, { service }: Context): void {
  const certificate = certificateOf(file);
  if (certificate === undefined || certificate === 'damaged') return;
  const { feed } = certificate;
  const name = feed.slice(0, feed.lastIndexOf(' of '));
  if (feed === feedOf(name, service)) return;
  throw usageError(
    `${file} was not recorded from this service: its certificate names "${feed}"`,
    'use the profile or --base-url of that service; if it has moved, move the certificate aside',
  );
}

const isClosed = (post: Sent): boolean => typeof closedAtOf(post) === 'number';

/**
 * The posts of the files, each once: as it was written last, at the place where the first file has
 * it.
 */
async function recordedIn(
  { terminal }: Context,
  files: readonly string[],
): Promise<readonly RecordedPost[]> {
  const { keep, compare } = positionPosts();
  const posts = new Map<string, TailRow>();
  const now = terminal.io.clock.now();
  const read = (line: Buffer) => {
    const record = parseJson(line.toString('utf8'));
    const row = isRecord(record) && isThesis(record) && tailRow(record, timeFields.thesis);
    return row ? withoutFutureTime(row, now) : undefined;
  };
  for await (const rows of thesesIn(files, terminal, read))
    for (const row of rows) {
      const before = posts.get(row.id);
      // Of two versions that tell the same of a position, the last one may be that of a refresh.
      if (before === undefined || compare(keep(row), keep(before)) >= 0) posts.set(row.id, row);
    }
  if (posts.size === 0) throw withoutTheses(files.join(', '));
  return [...posts.values()];
}

async function readAgain(context: Context, ways: RefreshWays): Promise<PostRefresh> {
  const { terminal, settings, service } = context;
  const { groups, whole } = ways;
  const progress = await openProgress(context);
  const planned = groups.reduce((sum, pages) => sum + mostPages(pages), whole?.pages ?? 0);
  const own = `about ${unitsText(pagesOf(groups) * cu.thesisBlock)}`;
  const refresh = new PostRefresh({
    client: await service.client(),
    clock: groups.length === 0 ? terminal.io.clock : await serviceClock(context),
    signal: terminal.signal,
    // With --max-cu, the user has set a limit of their own.
    pages: settings.maxCu === undefined ? planned : undefined,
    onProgress: (done, of) => progress.show('reading', done, of),
    onWay: (way) => {
      if (groups.length > 0)
        terminal.notice(wayText(way, groupsText(groups), { page: cu.thesisBlock, own }));
    },
  });
  try {
    await refresh.run(ways);
  } finally {
    progress.stop();
  }
  return refresh;
}

/** The authors and tokens whose pages the groups are: `34 authors and 2 tokens`. */
function groupsText(groups: readonly PostGroup[]): string {
  const authors = groups.filter(({ scope }) => scope.userId !== undefined).length;
  const counts = [
    { count: authors, noun: 'author' },
    { count: groups.length - authors, noun: 'token' },
  ];
  return counts
    .filter(({ count }) => count > 0)
    .map(({ count, noun }) => countText(count, noun))
    .join(' and ');
}

/** The post as it is now. One that was not read stays as it was recorded, without `gone`. */
function refreshed({ id, record }: RecordedPost, { present, gone }: PostRefresh): Sent {
  const now = present.get(id);
  if (now !== undefined) return copySources({ ...now, gone: false }, now);
  // An earlier refresh may have recorded "gone", which says nothing about this one.
  const { gone: _, ...recorded } = record;
  return copySources(gone.has(id) ? { ...recorded, gone: true } : recorded, record);
}

/** Says what became of the posts, and which were not read. */
function report(
  { terminal }: Context,
  { unaddressed }: RefreshWays,
  rows: readonly { readonly id: string; readonly fate: Fate }[],
): void {
  const fates = rows.map(({ fate }) => fate);
  const count = (fate: Fate) => fates.filter((each) => each === fate).length;
  const unknown = count('unknown');
  const parts = [
    ...(['closed since', 'still open', 'closed before', 'gone'] as const),
    ...(unknown > 0 ? (['unknown'] as const) : []),
  ];
  terminal.notice(parts.map((fate) => `${group(count(fate))} ${fate}`).join(', '));
  const hidden = new Set(unaddressed.map(({ id }) => id));
  const unread = rows.filter(({ fate }) => fate === 'not read');
  const nameless = unread.filter(({ id }) => hidden.has(id)).length;
  if (nameless > 0)
    terminal.notice(
      `${countText(nameless, 'post')} not read: recorded without an author id and a token`,
    );
  const others = unread.length - nameless;
  if (others > 0)
    terminal.notice(
      `${countText(others, 'post')} not read, and printed as recorded, without "gone"`,
    );
}
