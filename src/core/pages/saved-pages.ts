import { Failure } from '../../base/failure.ts';
import { isRecord } from '../../base/json-object.ts';
import { NUMBERS_AGE_MS } from '../../contract/answer-age.ts';
import {
  type AnswerCache,
  type CachedFeed,
  type SharedAnswer,
  withClaim,
} from '../../contract/ports/answers.ts';
import { numberOf } from '../../contract/read-record.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import { timeFields } from './feeds.ts';
import { normalToken } from './filter.ts';
import { type GatheredPosts, gatherPosts } from './gather.ts';
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

/** Posts, and where they are from. */
export interface ReadPosts extends GatheredPosts {
  /** When the oldest of their pages was read; null if this is not known. */
  readonly readAt: number | null;
  readonly via: 'service' | 'cache' | 'file';
}

interface SharedPage extends SavedPage {
  /** Whether this machine has requested it. */
  readonly isAsked: boolean;
}

interface SavedPage extends FeedPage {
  /** When the service has sent it. */
  readonly time: number;
  /** How often it was requested again, because it has led nowhere. */
  readonly repeats: number;
}

/** A page that a walk wants. */
interface WantedPage {
  readonly endpoint: CachedFeed;
  /** The feed, and the place of the page in it. */
  readonly subject: string;
  readonly before: string | undefined;
  /** How often it has led nowhere in this walk. */
  readonly repeats: number;
  readonly signal: AbortSignal;
}

/**
 * The pages of feeds that were paid for: one that is young enough is not requested again. Each is
 * saved under its place in its feed, and not under its cursor, so that a later walk replaces the
 * pages of earlier ones.
 */
export class SavedPages {
  readonly #cache: AnswerCache | undefined;
  readonly #now: () => number;
  readonly #maxAgeMs: number;
  /** Ages count from the start of the run, so that it has the pages that its plan counts on. */
  readonly #began: number;

  /** Every page is requested if there is no cache. */
  constructor(cache: AnswerCache | undefined, now: () => number, maxAgeMs = NUMBERS_AGE_MS) {
    this.#cache = cache;
    this.#now = now;
    this.#maxAgeMs = maxAgeMs;
    this.#began = now();
  }

  /** The posts of a list. Pages that are not saved, or not young enough, are requested. */
  read(call: FeedCall, source: PageSource, options: WalkOptions): Promise<ReadPosts> {
    return this.#gather(new SavedWalk(this, call, source, true), options);
  }

  /** The posts of a list as far as they are saved: it fails at the first page that is not. */
  saved(call: FeedCall, source: PageSource, options: WalkOptions): Promise<ReadPosts> {
    // What is saved does not change while the walk waits.
    const walk = { ...options, pauseMs: () => 0 };
    return this.#gather(new SavedWalk(this, call, source, false), walk);
  }

  async #gather(walk: SavedWalk, options: WalkOptions): Promise<ReadPosts> {
    const read = await gatherPosts(walk, options);
    const { readAt = this.#now(), isAsked } = walk;
    return { ...read, readAt, via: isAsked ? 'service' : 'cache' };
  }

  find({ endpoint, subject, before, repeats }: WantedPage): SavedPage | undefined {
    const answer = this.#cache?.get(endpoint, [subject])[0];
    const isYoung = answer && Math.max(0, this.#began - answer.time) < this.#maxAgeMs;
    const page = isYoung ? pageOf(answer, endpoint, before) : undefined;
    // An end of which the service was asked as often before is believed again.
    const isUsable = page && (repeats === 0 || (!page.hasMore && page.repeats >= repeats));
    return isUsable ? page : undefined;
  }

  /** Requests a page and saves it, or gets the one that another machine has requested. */
  async ask(wanted: WantedPage, request: () => Promise<FeedPage>): Promise<SharedPage> {
    const { endpoint, subject, before, repeats, signal } = wanted;
    const ages = { maxAgeMs: repeats > 0 ? 0 : this.#maxAgeMs, missAgeMs: 0 };
    const claim = await this.#cache?.claim?.({ endpoint, subject, ...ages }, signal);
    if (claim?.by === 'other' && claim.failure) throw claim.failure;
    const shared = claim?.by === 'cache' ? pageOf(claim.answer, endpoint, before) : undefined;
    if (shared) return { ...shared, isAsked: false };
    return await withClaim(
      claim,
      async () => {
        const page = { ...(await request()), time: this.#now(), repeats };
        await this.#save(wanted, page);
        return { ...page, isAsked: true };
      },
      () => undefined,
    );
  }

  async #save({ endpoint, subject, before }: WantedPage, page: SavedPage): Promise<void> {
    const { rows, hasMore, nextBefore, time, repeats } = page;
    const items = rows.map(({ record }) => record);
    const record = { before: before ?? null, items, hasMore, nextBefore, repeats };
    const answer = { time, status: 200, record } as const;
    await this.#cache?.put(endpoint, new Map([[subject, answer]]));
  }
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

/** One walk through a feed, which notes when its posts were read. */
class SavedWalk implements PageSource {
  readonly sizes: PageSource['sizes'];
  readonly stepCu: number;
  readonly affords: PageSource['affords'];
  /** When the oldest of the pages was read. */
  readAt: number | undefined;
  /** Whether a page was requested. */
  isAsked = false;
  readonly #pages: SavedPages;
  readonly #source: PageSource;
  readonly #mayAsk: boolean;
  readonly #endpoint: CachedFeed;
  readonly #name: string;
  /** The page that was read last. */
  #last = { place: -1, before: undefined as string | undefined, repeats: 0 };

  constructor(pages: SavedPages, call: FeedCall, source: PageSource, mayAsk: boolean) {
    this.#pages = pages;
    this.#source = source;
    this.#mayAsk = mayAsk;
    this.#endpoint = call.id;
    this.#name = feedName(call);
    this.sizes = source.sizes;
    this.stepCu = source.stepCu;
    this.affords = source.affords;
  }

  async page(asked: AskedPage, signal: AbortSignal): Promise<FeedPage> {
    const { before } = asked;
    const { place: last } = this.#last;
    // The reader repeats a request that led nowhere, so that a saved page that did is not used twice.
    const isRepeated = last >= 0 && before === this.#last.before;
    const place = isRepeated ? last : last + 1;
    const repeats = isRepeated ? this.#last.repeats + 1 : 0;
    const wanted = {
      endpoint: this.#endpoint,
      subject: `${this.#name} ${place}`,
      before,
      repeats,
      signal,
    };
    const page = this.#pages.find(wanted) ?? (await this.#ask(wanted, asked));
    this.#last = { place, before, repeats };
    this.readAt = Math.min(this.readAt ?? page.time, page.time);
    return page;
  }

  async #ask(wanted: WantedPage, asked: AskedPage): Promise<SavedPage> {
    if (!this.#mayAsk) throw new Failure('missing', 'the page is not saved', { code: 'NOT_SAVED' });
    const { signal } = wanted;
    const page = await this.#pages.ask(wanted, () => this.#source.page(asked, signal));
    this.isAsked ||= page.isAsked;
    return page;
  }
}
