import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { NUMBERS_AGE_MS } from '../../contract/answer-age.ts';
import {
  type AnswerCache,
  type CachedAnswer,
  type CachedFeed,
  type SharedAnswer,
  withClaim,
} from '../../contract/ports/answers.ts';
import { numberOf } from '../../contract/read-record.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import { timeFields } from './feeds.ts';
import { normalToken } from './filter.ts';
import { type GatheredPosts, gatherPosts } from './gather.ts';
import type { PageRow } from './post.ts';
import { type AskedPage, type FeedPage, feedPage, type PageSource } from './source.ts';
import type { WalkOptions } from './walk.ts';

/** The call of a page of a feed, which says whose posts they are. */
export interface FeedCall extends PlannedEndpoint {
  readonly id: CachedFeed;
}

/** Whose posts a feed has, and about what. */
export const feedName = ({ ask }: FeedCall): string =>
  Object.values(ask.params ?? {})
    .map((value) => normalToken(String(value)))
    .join(' ');

/** A feed, and what is kept of each of its posts. */
export interface KeptFeed<P> {
  readonly call: FeedCall;
  readonly source: PageSource;
  keep(row: PageRow): P;
}

/** Posts, and where they are from. */
export interface ReadPosts<P> extends GatheredPosts<P> {
  /** When the oldest of their pages was read; null if this is not known. */
  readonly readAt: number | null;
  readonly via: 'service' | 'cache' | 'file';
}

interface SavedPage extends FeedPage {
  /** When the service has sent it. */
  readonly time: number;
  /** How often it was requested again, because it has led nowhere. */
  readonly repeats: number;
}

/**
 * The pages of feeds that were paid for: one that is young enough is not requested again. Each is
 * saved under its place in its feed, and not under its cursor, so that a later walk replaces the
 * pages of earlier ones.
 */
export class SavedPages {
  /** Every page is requested if there is no cache. */
  readonly cache: AnswerCache | undefined;
  readonly now: () => number;
  readonly maxAgeMs: number;
  /** Ages count from the start of the run, so that it has the pages that its plan counts on. */
  readonly began: number;

  constructor(cache: AnswerCache | undefined, now: () => number, maxAgeMs = NUMBERS_AGE_MS) {
    this.cache = cache;
    this.now = now;
    this.maxAgeMs = maxAgeMs;
    this.began = now();
  }

  /** The posts of a list. Pages that are not saved, or not young enough, are requested. */
  read<P>(feed: KeptFeed<P>, options: WalkOptions): Promise<ReadPosts<P>> {
    return this.#gather(feed, true, options);
  }

  /** The posts of a list as far as they are saved: it fails at the first page that is not. */
  saved<P>(feed: KeptFeed<P>, options: WalkOptions): Promise<ReadPosts<P>> {
    // What is saved does not change while the walk waits.
    return this.#gather(feed, false, { ...options, pauseMs: () => 0 });
  }

  async #gather<P>(
    feed: KeptFeed<P>,
    mayAsk: boolean,
    options: WalkOptions,
  ): Promise<ReadPosts<P>> {
    const walk = new SavedWalk(this, feed, mayAsk);
    const read = await gatherPosts(walk, options, feed.keep);
    const { readAt = this.now(), isAsked } = walk;
    return { ...read, readAt, via: isAsked ? 'service' : 'cache' };
  }
}

/** The place of a page in a walk, with the cursor that it is below. */
interface Place {
  readonly index: number;
  readonly before: string | undefined;
  /** How often the page has led nowhere in this walk. */
  readonly repeats: number;
}

/** One walk through a feed, which notes when its posts were read. */
class SavedWalk implements PageSource {
  readonly sizes: PageSource['sizes'];
  readonly stepCu: number;
  readonly affords: PageSource['affords'];
  /** When the oldest of the pages was read. */
  readAt: number | undefined;
  /** Whether this machine has requested a page. */
  isAsked = false;
  readonly #pages: SavedPages;
  readonly #feed: KeptFeed<unknown>;
  readonly #mayAsk: boolean;
  /** The page that was read last. */
  #last: Place = { index: -1, before: undefined, repeats: 0 };

  constructor(pages: SavedPages, feed: KeptFeed<unknown>, mayAsk: boolean) {
    const { source } = feed;
    this.#pages = pages;
    this.#feed = feed;
    this.#mayAsk = mayAsk;
    this.sizes = source.sizes;
    this.stepCu = source.stepCu;
    this.affords = source.affords;
  }

  async page(asked: AskedPage, signal: AbortSignal): Promise<FeedPage> {
    const { before } = asked;
    const { index, repeats } = this.#last;
    // The reader repeats a request that led nowhere, so that a saved page that did is not used
    // twice.
    const isRepeated = index >= 0 && before === this.#last.before;
    const place = isRepeated
      ? { index, before, repeats: repeats + 1 }
      : { index: index + 1, before, repeats: 0 };
    const page = this.#find(place) ?? (await this.#ask(place, asked, signal));
    this.#last = place;
    this.readAt = Math.min(this.readAt ?? page.time, page.time);
    return page;
  }

  #find(place: Place): SavedPage | undefined {
    const { cache, began, maxAgeMs } = this.#pages;
    const { id } = this.#feed.call;
    const answer = cache?.get(id, [this.#subjectOf(place)])[0];
    const isYoung = answer && Math.max(0, began - answer.time) < maxAgeMs;
    const page = isYoung ? pageOf(answer, id, place.before) : undefined;
    // An end of which the service was asked as often before is believed again.
    const { repeats } = place;
    const isUsable = page && (repeats === 0 || (!page.hasMore && page.repeats >= repeats));
    return isUsable ? page : undefined;
  }

  /** Requests a page and saves it, or gets the one that another machine has requested. */
  async #ask(place: Place, asked: AskedPage, signal: AbortSignal): Promise<SavedPage> {
    if (!this.#mayAsk) throw new Failure('missing', 'the page is not saved', { code: 'NOT_SAVED' });
    const { cache, now, maxAgeMs } = this.#pages;
    const { before, repeats } = place;
    const { source, call } = this.#feed;
    const endpoint = call.id;
    const subject = this.#subjectOf(place);
    const ages = { maxAgeMs: repeats > 0 ? 0 : maxAgeMs, missAgeMs: 0 };
    const claim = await cache?.claim?.({ endpoint, subject, ...ages }, signal);
    if (claim?.by === 'other' && claim.failure) throw claim.failure;
    const shared = claim?.by === 'cache' ? pageOf(claim.answer, endpoint, before) : undefined;
    if (shared) return shared;
    const request = async () => {
      const page = { ...(await source.page(asked, signal)), time: now(), repeats };
      await cache?.put(endpoint, new Map([[subject, answerOf(page, before)]]));
      return page;
    };
    const page = await withClaim(claim, request, () => undefined);
    this.isAsked = true;
    return page;
  }

  #subjectOf({ index }: Place): string {
    return `${feedName(this.#feed.call)} ${index}`;
  }
}

function answerOf(
  { rows, hasMore, nextBefore, time, repeats }: SavedPage,
  before: string | undefined,
): CachedAnswer {
  const items = rows.map(({ record }) => record);
  return {
    time,
    status: 200,
    record: { before: before ?? null, items, hasMore, nextBefore, repeats },
  };
}

/** A saved page, if it is the one below `before`: the file may be damaged, or of another walk. */
function pageOf(
  { status, record, time }: SharedAnswer,
  endpoint: CachedFeed,
  before: string | undefined,
): SavedPage | undefined {
  if (status !== 200 || !isRecord(record) || record['before'] !== (before ?? null))
    return undefined;
  const timeField = endpoint.startsWith('thesis') ? timeFields.thesis : timeFields.callout;
  const repeats = numberOf(record['repeats']) ?? 0;
  return { ...feedPage(record, Number.POSITIVE_INFINITY, timeField), time, repeats };
}
