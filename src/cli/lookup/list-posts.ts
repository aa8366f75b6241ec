import type { Sent } from '../../contract/read-record.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { type TimedFeed, walkPages } from '../../core/pages/walk.ts';
import type { View } from '../../output/view.ts';
import { type ListInput, readRange, sortedRows } from '../args/list-flags.ts';
import type { Context, Planned } from '../context.ts';
import { createListPosition, giveUp } from '../spend/continue-command.ts';
import { approveList } from '../spend/preflight.ts';
import { filtersOf } from '../tail/certify.ts';
import { createListCertificate } from '../verify/list-certificate.ts';
import { serviceClock } from './service-time.ts';

interface PostList {
  readonly view: View<Sent>;
  readonly noun: readonly [one: string, many?: string];
  readonly symbolField: string;
  readonly timeField: string;
  /** The most posts that a page can have. */
  readonly pageRows: number;
  /** The calls, with the call of a page last. */
  readonly calls: readonly [...Planned[], Planned];
  /** Opens the feed. Calls that this needs are sent when the output is open, so that they are not lost. */
  readonly open: () => Promise<{ readonly feed: TimedFeed<Sent>; readonly name: string }>;
  readonly onPosts?: (posts: AsyncIterable<Sent>) => AsyncIterable<Sent>;
}

export async function listPosts(context: Context, flags: ListInput, list: PostList): Promise<void> {
  const { rows, before } = flags;
  const { io, settings, signal } = context;
  const range = readRange(flags, io.clock.now(), settings.utc);
  const filters = filtersOf(flags.conditions);
  // The maximum cost is not known with a filter or --until: they skip posts that are paid for too.
  const isOpen = rows === undefined || range.until !== undefined || Object.keys(filters).length > 0;
  const planned = list.calls.map((call, at) =>
    at < list.calls.length - 1 ? call : { ...call, times: isOpen ? null : Math.ceil(rows / list.pageRows) },
  );
  if (await context.dryRun(planned, list.view)) return;
  await approveList(context, planned, rows, ...list.noun);
  const isTimed = flags.since !== undefined || flags.until !== undefined;
  const clock = isTimed ? await serviceClock(context) : io.clock;
  const walk = { ...readRange(flags, clock.now(), settings.utc), limit: rows, before, clock, signal };
  const { symbolField } = list;
  const matches = createFilter<{ readonly record: Sent }>({ ...flags.conditions, symbolField });
  const position = createListPosition(context, walk, (record) => matches({ record }));
  const certificate = createListCertificate(context, list.timeField, walk);
  let name = '';
  async function* found() {
    const opened = await list.open();
    name = opened.name;
    const limits = rows === undefined ? {} : giveUp(context);
    const feed = certificate.watch(opened.feed);
    yield* walkPages(feed, walk, certificate.filter({ ...position.filter, ...limits }));
  }
  const posts = list.onPosts?.(found()) ?? found();
  await context.print(
    { ...list.view, highlight: highlightOf(flags.conditions.grep) },
    position.follow(sortedRows(posts, flags)),
  );
  certificate.write(name, filters);
}
