import { unitsText } from '../../base/units.ts';
import { numberOf, type Sent } from '../../contract/read-record.ts';
import { createFilter } from '../../core/pages/filter.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { sortBy } from '../../core/pages/sort.ts';
import { type TimedFeed, type WalkFilter, walkPages } from '../../core/pages/walk.ts';
import type { View } from '../../output/view.ts';
import { type ListInput, readRange } from '../args/list-flags.ts';
import type { Context } from '../run/context.ts';
import { isDryRun } from '../run/dry-run.ts';
import type { Planned } from '../run/planned.ts';
import { continueList, hintToContinue } from '../spend/continue-command.ts';
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

/** The number of consecutive pages without a match after which a list with a limit stops. */
const MAX_PAGES_WITHOUT_MATCH = 20;

export async function listPosts(context: Context, flags: ListInput, list: PostList): Promise<void> {
  const { rows, best, before, sort, reverse } = flags;
  const { io, signal } = context.terminal;
  const { settings } = context;
  const range = readRange(flags, io.clock.now(), settings.utc);
  const filters = filtersOf(flags.conditions);
  // The maximum cost is not known with a filter or --until: they skip posts that are paid for too.
  const isOpen = rows === undefined || range.until !== undefined || Object.keys(filters).length > 0;
  const planned = list.calls.map((call, at) =>
    at < list.calls.length - 1
      ? call
      : { ...call, times: isOpen ? null : Math.ceil(rows / list.pageRows) },
  );
  if (await isDryRun(context, planned, list.view)) return;
  await approveList(context, planned, rows, ...list.noun);
  const isTimed = flags.since !== undefined || flags.until !== undefined;
  const clock = isTimed ? await serviceClock(context) : io.clock;
  const walk = {
    ...readRange(flags, clock.now(), settings.utc),
    limit: rows,
    before,
    clock,
    signal,
  };
  const { symbolField } = list;
  const matches = createFilter<{ readonly record: Sent }>({ ...flags.conditions, symbolField });
  const certificate = createListCertificate(context, list.timeField, walk);
  let name = '';
  let next = before;
  let count = 0;
  let isGivenUp = false;
  /** The time of the last post that passed, as it is in the record. */
  let oldest: unknown;
  const filter: Partial<WalkFilter<Sent>> = {
    matches(record) {
      certificate.saw(record);
      const isMatch = matches({ record });
      if (isMatch) {
        count++;
        oldest = record[list.timeField];
      }
      return isMatch;
    },
    onPage(cursor) {
      next = cursor;
    },
    maxPages: rows === undefined ? undefined : MAX_PAGES_WITHOUT_MATCH,
    onGiveUp(pages, cursor) {
      isGivenUp = true;
      context.terminal.notice(
        `stopped after ${pages} pages in a row without a match (${unitsText(context.bill.spent)}); there are more pages: continue with --before ${cursor}, or use --all`,
      );
    },
  };
  async function* found() {
    const opened = await list.open();
    name = opened.name;
    yield* walkPages(certificate.watch(opened.feed), walk, filter);
  }
  const continued = () =>
    continueList(context.terminal.io, context.settings.flags.out, {
      '--before': next,
      // Write absolute times, because an age such as 2h would refer to a later time when the list continues.
      ...(walk.since !== undefined && { '--since': new Date(walk.since).toISOString() }),
      ...(rows !== undefined && { '--limit': String(rows - count), '--top': undefined }),
    });
  /** If the list fails halfway, the rows received so far are printed, because they were paid for. */
  async function* printed() {
    const posts = list.onPosts?.(found()) ?? found();
    const all: Sent[] = [];
    let failure: { readonly error: unknown } | undefined;
    try {
      if (sort === undefined && !reverse) yield* posts;
      else for await (const post of posts) all.push(post);
    } catch (error) {
      failure = { error: next === before ? error : hintToContinue(error, continued) };
    }
    yield* sort === undefined ? all.reverse() : sortBy(all, sort, reverse).slice(0, best);
    if (failure) throw failure.error;
  }
  await context.out.print(
    { ...list.view, highlight: highlightOf(flags.conditions.grep) },
    printed(),
  );
  const isCut = count === rows;
  if (isCut && walk.since !== undefined) {
    const when = new Date(numberOf(oldest) ?? Number.NaN);
    const at = Number.isNaN(when.getTime()) ? '' : ` at ${when.toISOString()}`;
    context.terminal.notice(
      `--limit ended the list${at}, before --since; to read the whole range, omit --limit`,
    );
  }
  // A file from which the sort has cut posts proves nothing about a stretch of time.
  if (best === undefined || count <= best) certificate.write(name, filters, isGivenUp || isCut);
}
