import type { Clock } from '../../base/clock.ts';
import { usageError } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { Sent } from '../../contract/read-record.ts';
import type { FeedOf } from '../../core/pages/feeds.ts';
import { type Conditions, createFilter } from '../../core/pages/filter.ts';
import { mostOwnPages, type ReadingWay, walkSeveral } from '../../core/pages/merge.ts';
import { mayProbe } from '../../core/pages/page-size.ts';
import { highlightOf } from '../../core/pages/pattern-search.ts';
import { severalStart } from '../../core/pages/place.ts';
import type { PageRow } from '../../core/pages/post.ts';
import type { PageSource } from '../../core/pages/source.ts';
import { type WalkFilter, type WalkOptions, walkPages } from '../../core/pages/walk.ts';
import {
  followed,
  type LookupFirst,
  noLookup,
  type Plan,
  type Planned,
  totalOf,
} from '../../core/spend/plan.ts';
import type { View } from '../../output/view.ts';
import { countsView } from '../../output/views/counts.ts';
import type { Among } from '../../tail/source.ts';
import { fileToCertify, ListCertificate } from '../../verify/list-certificate.ts';
import { agentOf } from '../agent.ts';
import { type ListInput, readRange } from '../args/list-flags.ts';
import { serviceClock } from '../lookup/service-time.ts';
import type { Context } from '../run/context.ts';
import { hintToContinue } from '../run/continue-command.ts';
import { type CommandJob, RowTally } from '../run/job.ts';
import type { Out } from '../run/out.ts';
import { filtersOf, noticeTimeout, showingFilters } from '../tail/filters.ts';
import { type ListState, leftOutText, lineAfterFailure } from './list-end.ts';
import { PostCounter } from './post-counter.ts';
import { inOrderOf, withFailure } from './row-order.ts';
import { UnseenValues } from './unseen-values.ts';
import { wayText } from './way-text.ts';

interface PostList {
  readonly view: View<Sent>;
  /** The field with the author of a post. */
  readonly authorField: string;
  readonly noun: readonly [one: string, many?: string];
  readonly symbolField: string;
  readonly networkField: string;
  /** The most posts that a page can have. */
  readonly pageRows: number;
  /** The sizes of the pages, if they may have more rows. */
  readonly sizes?: PageSource['sizes'];
  /** What comes before the first page. */
  readonly first?: LookupFirst;
  /** The call of a page. */
  readonly page: Planned;
  /** The call of a page of the feed that has all posts. */
  readonly wholePage: Planned;
  /** The most feeds that the list consists of, and what each of them is of: `author`. */
  readonly feeds: number;
  readonly feedNoun: string;
  /** Whether the feeds have other posts too. */
  readonly isNarrowed?: boolean;
  /** Whether the posts are those of files, so that nothing is sent. */
  readonly isRecorded?: boolean;
  /**
   * Opens the feeds. Calls that this needs are sent when the output is open, so that they are not
   * lost.
   */
  readonly open: () => Promise<OpenedFeeds>;
  readonly onPosts?: (posts: AsyncIterable<PageRow>) => AsyncIterable<PageRow>;
}

/** The feeds that a list can read, once the ids of its authors are known. */
interface OpenedFeeds {
  readonly own: readonly PageSource[];
  readonly whole: PageSource;
  readonly feedOf: FeedOf;
  readonly name: string;
  /**
   * The authors and tokens of the posts; of these, a certificate states what is not in the name of
   * the feed.
   */
  readonly wanted: Conditions;
  readonly among: Among;
}

interface ReadState extends ListState {
  /** The name of the feed, once it is open. */
  name: string;
  among: Among;
}

/** The number of consecutive pages without a match after which a list with a limit stops. */
const MAX_PAGES_WITHOUT_MATCH = 20;

/** The rows that an agent gets of a list to which it gave no limit. */
const AGENT_ROWS = 200;

/** A list of posts, newest first: reads page after page, and prints those that match. */
export function listJob(context: Context, given: ListInput, list: PostList): CommandJob {
  const flags = limitedForAgent(context, given);
  const tally = new RowTally(...list.noun);
  return {
    plan: listPlan(context, flags, list),
    view: flags.countBy === undefined ? list.view : countsView(flags.countBy),
    tally,
    print: (out) => printList(context, flags, list, tally, out),
  };
}

/**
 * Limits a list that would otherwise print a whole range, because an agent has to read every row.
 * A file is not limited: the agent decides what of it to read.
 */
function limitedForAgent({ terminal, settings }: Context, flags: ListInput): ListInput {
  const { rows, best, all, sort } = flags;
  const isShort = flags.countBy !== undefined;
  const isLimited = all || isShort || rows !== undefined || best !== undefined;
  if (isLimited || settings.flags.out !== undefined || agentOf(terminal.io.env) === undefined)
    return flags;
  const limit = sort === undefined ? { rows: AGENT_ROWS } : { best: AGENT_ROWS };
  return { ...flags, ...limit, isForAgent: true };
}

function listPlan({ terminal, settings }: Context, flags: ListInput, list: PostList): Plan {
  const { rows } = flags;
  const { feeds, pageRows, page, wholePage } = list;
  const range = readRange(flags, terminal.io.clock.now(), settings.utc);
  // The maximum cost is not known with a filter or --until: they skip posts that are paid for too.
  const skips =
    list.isNarrowed ||
    range.until !== undefined ||
    Object.keys(filtersOf(flags.conditions)).length > 0;
  const start = severalStart(flags.before, feeds, terminal.io.clock.now());
  const way = feeds > 1 ? (start?.way ?? 'either') : undefined;
  const extra = way === undefined ? 0 : mostOwnPages(feeds, rows ?? 0, pageRows);
  const isOpen = rows === undefined || skips || (way !== undefined && flags.before !== undefined);
  const pages = isOpen ? null : extra || Math.ceil(rows / pageRows);
  // Of the whole feed, no more pages are read than the own feeds would have cost.
  const looks = way === 'either' ? [{ ...wholePage, times: feeds }] : [];
  const read = way === 'whole' ? wholePage : page;
  const mayTest = way === undefined && list.sizes && mayProbe(rows ?? 0, list.sizes);
  const probes = mayTest && !isOpen ? [{ ...page, isSure: false }] : [];
  return {
    calls: list.isRecorded
      ? []
      : followed(list.first ?? noLookup, [
          ...looks,
          { ...read, times: pages, isSure: looks.length === 0 },
          ...probes,
        ]),
    costs: (cost) => `Fetching up to ${countText(rows ?? 0, ...list.noun)} will cost ${cost}`,
    // A list with --limit stops by itself, so its spending limit is not reported.
    tellsLimit: rows === undefined,
    stopped: (spent) => ({ message: `stopped after ${spent}; there are more results` }),
  };
}

async function printList(
  context: Context,
  flags: ListInput,
  list: PostList,
  tally: RowTally,
  out: Out,
): Promise<void> {
  const { terminal, settings } = context;
  const { rows } = flags;
  // The places of several feeds that were not read yet are times.
  const isTimed = flags.since !== undefined || flags.until !== undefined || list.feeds > 1;
  const clock: Clock =
    isTimed && !list.isRecorded ? await serviceClock(context) : terminal.io.clock;
  const range = readRange(flags, clock.now(), settings.utc);
  const walk = { ...range, limit: rows, before: flags.before, clock, signal: terminal.signal };
  const certificate = new ListCertificate({
    // What a list proves, it has read from the service itself.
    file: list.isRecorded ? undefined : fileToCertify(settings.flags.out, settings.format),
    service: context.service,
    range,
    now: terminal.io.clock.now,
  });
  const state = stateAt(flags.before);
  const read = readFeeds(context, flags, list, { walk, certificate, state });
  const posts = list.onPosts?.(read) ?? read;
  const continued = (error: unknown) =>
    state.next === flags.before
      ? error
      : hintToContinue(error, () =>
          lineAfterFailure(terminal.io, settings.flags.out, flags, state, range),
        );
  const view = {
    ...showingFilters(list.view, flags.conditions),
    highlight: highlightOf(flags.conditions.grep),
  };
  if (flags.countBy === undefined)
    await out.print(view, tally.counting(inOrderOf(flags, recordsOf(posts), continued)));
  else {
    const counter = new PostCounter(flags.countBy, list.authorField, settings.utc);
    const counts = countsOf(counter, tally.counting(posts));
    await out.print(countsView(flags.countBy), inOrderOf(flags, counts));
  }
  const isCut = state.matches === rows;
  const text = leftOutText(terminal.io, flags, list.noun, state, range);
  if (text !== undefined) terminal.notice(text);
  // A file of counts, or one from which the sort has cut posts, proves nothing about a stretch of
  // time.
  if (flags.countBy !== undefined) return;
  if (flags.best === undefined || state.matches <= flags.best)
    certificate.write(
      state.name,
      filtersOf(flags.conditions, state.among),
      state.isGivenUp || isCut,
    );
}

/** The state of a list of which nothing was read yet. */
const stateAt = (before: string | undefined): ReadState => ({
  name: '',
  among: {},
  next: before,
  hasMore: true,
  matches: 0,
  sure: 0,
  oldest: null,
  isGivenUp: false,
});

/** What the posts of a list are read with. */
interface ListReading {
  readonly walk: WalkOptions;
  readonly certificate: ListCertificate;
  readonly state: ReadState;
}

/** The posts of a list that match, from its only feed or from several. */
async function* readFeeds(
  context: Context,
  flags: ListInput,
  list: PostList,
  { walk, certificate, state }: ListReading,
): AsyncGenerator<PageRow, void, void> {
  const { own, whole, feedOf, name, wanted, among } = await list.open();
  state.name = name;
  state.among = among;
  const isSeveral = own.length > 1;
  const start = isSeveral ? severalStart(flags.before, own.length, walk.clock.now()) : undefined;
  if (isSeveral && start === undefined)
    throw usageError(
      `--before continues a list of other ${list.feedNoun}s`,
      'run the command as it was printed, with the same flags and files',
    );
  // What a feed of its own has is wanted, even if its records name the author otherwise than
  // expected.
  const narrowing = list.isNarrowed ? wanted : {};
  const filter = walkFilter(context, flags, list, narrowing, state, (row) => certificate.saw(row));
  if (start === undefined) {
    const [feed = whole] = certificate.watch(own);
    yield* walkPages(feed, walk, filter);
    return;
  }
  const page = totalOf([{ ...list.page, times: 1 }]).least;
  const feeds = {
    own,
    whole,
    feedOf,
    start,
    pageRows: list.pageRows,
    onWay: (way: ReadingWay) =>
      context.terminal.notice(
        wayText(way, countText(own.length, list.feedNoun), {
          page,
          own: `at least ${unitsText(own.length * page)}`,
        }),
      ),
    watch: (some: readonly PageSource[]) => certificate.watch(some),
  };
  yield* walkSeveral(feeds, walk, filter);
}

async function* recordsOf(posts: AsyncIterable<PageRow>): AsyncGenerator<Sent, void, void> {
  for await (const { record } of posts) yield record;
}

/** The filter of a walk, which notes in `state` where the walk is. */
function walkFilter(
  context: Context,
  { rows, conditions, isForAgent, before }: ListInput,
  list: PostList,
  wanted: Conditions,
  state: ListState,
  saw: (row: PageRow) => void,
): Partial<WalkFilter> {
  const { symbolField, networkField } = list;
  const { terminal, bill } = context;
  const isWanted = createFilter<PageRow>({
    ...conditions,
    ...wanted,
    symbolField,
    networkField,
    onTimeout: noticeTimeout(terminal),
  });
  // Who states where the list begins has seen the posts above.
  const unseen = before === undefined ? new UnseenValues(context, conditions, list) : undefined;
  return {
    matches(row) {
      saw(row);
      unseen?.saw(row.record);
      const isMatch = isWanted(row);
      if (isMatch) {
        state.matches++;
        state.oldest = row.at;
      }
      return isMatch;
    },
    onPage({ next, isUnsure }) {
      state.next = next ?? state.next;
      state.hasMore = next !== undefined;
      if (!isUnsure) state.sure = state.matches;
      unseen?.check(next);
    },
    maxPages:
      rows === undefined || isForAgent || list.isRecorded ? undefined : MAX_PAGES_WITHOUT_MATCH,
    onGiveUp(pages) {
      state.isGivenUp = true;
      terminal.notice(
        `stopped after ${pages} pages in a row without a match (${unitsText(bill.spent)}); there are more pages: continue with --before ${state.next}, or use --all`,
      );
    },
  };
}

/** The counts of posts; those of the posts so far, if the list fails halfway. */
async function* countsOf(
  counter: PostCounter,
  posts: AsyncIterable<PageRow>,
): AsyncGenerator<Sent, void, void> {
  let failure: unknown;
  try {
    for await (const post of posts) counter.add(post);
  } catch (error) {
    failure = error;
  }
  yield* withFailure(counter.records(), failure);
}
