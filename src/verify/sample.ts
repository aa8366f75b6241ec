import { usageError } from '../base/failure.ts';
import { countText, group } from '../base/units.ts';
import { cu, THESIS_BLOCK } from '../contract/limits.ts';
import type { Client } from '../contract/ports/client.ts';
import type { Sent } from '../contract/read-record.ts';
import type { Verification } from '../contract/records/verification.ts';
import {
  type CalloutScope,
  calloutCall,
  type ThesisScope,
  thesisCall,
} from '../core/pages/feeds.ts';
import { type Conditions, createFilter, readPattern } from '../core/pages/filter.ts';
import type { Plan } from '../core/spend/plan.ts';
import { safeLine } from '../output/terminal/safe-text.ts';
import { type Certificate, type Stretch, type Unread, without } from '../tail/certificate.ts';
import { postIn } from '../tail/file/line-count.ts';
import { calloutSource, thesisSource } from '../tail/source.ts';
import type { ScannedFile } from '../verify/scan.ts';

/** What a sample needs of its run. */
interface SampleRun {
  readonly random: () => number;
  readonly signal: AbortSignal;
  /** The service that is asked; undefined if it is not configured yet. */
  readonly baseUrl: string | undefined;
  readonly client: () => Promise<Client>;
  readonly notice: (line: string) => void;
}

/**
 * Chooses random pages to request again: those that follow a line whose post time is in a verified
 * stretch.
 */
export function planSample(
  run: SampleRun,
  scanned: readonly ScannedFile[],
  verification: Verification,
  count: number,
): Sample {
  const certificate = scanned.find((each) => each.certificate)?.certificate;
  const { from, to, gaps } = verification;
  if (!certificate || from === null || to === null)
    throw usageError(
      '--sample needs a file with a verified stretch',
      'verify the files without --sample',
    );
  const feed = readFeedName(certificate.feed);
  checkSampled(certificate, feed, run.baseUrl);
  const verified = without([{ from, to }], gaps);
  const cursors = scanned
    .flatMap(({ picked }) => picked)
    .flatMap((line) => postIn(line, feed.isThesis ? 'platformCreatedAt' : 'createdAt') ?? [])
    .filter(({ at }) => isWithin(verified, at))
    .map(({ id }) => ({ id, place: run.random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ id }) => id);
  return new Sample(run, certificate, feed, { cursors, verified });
}

/** Throws if the files cannot be compared with what this service has now. */
function checkSampled(
  { filters }: Certificate,
  { baseUrl }: FeedName,
  asked: string | undefined,
): void {
  if (asked !== undefined && asked !== baseUrl)
    throw usageError(
      `the files are from ${safeLine(baseUrl)}, and --sample would ask ${asked}`,
      'choose the service with --profile or --base-url',
    );
  // A post that passes now may not have passed when the file was written.
  if (['closed', 'minLikes'].some((name) => name in filters))
    throw usageError(
      '--sample cannot be used with files of --closed or --min-likes: what they look at changes',
      'verify the files without --sample',
    );
}

const isWithin = (stretches: readonly Stretch[], at: number | null): at is number =>
  at !== null && stretches.some(({ from, to }) => at >= from && at <= to);

/** Random pages that the service is asked for again, to compare them with the files. */
class Sample {
  readonly plan: Plan;
  readonly #run: SampleRun;
  readonly #feed: FeedName;
  readonly #wants: (row: { readonly record: Sent }) => boolean;
  readonly #cursors: readonly string[];
  readonly #verified: readonly Stretch[];

  constructor(
    run: SampleRun,
    certificate: Certificate,
    feed: FeedName,
    chosen: { readonly cursors: readonly string[]; readonly verified: readonly Stretch[] },
  ) {
    this.#run = run;
    this.#feed = feed;
    this.#wants = filterOf(certificate, feed);
    this.#cursors = chosen.cursors;
    this.#verified = chosen.verified;
    const { isThesis } = feed;
    const call = isThesis
      ? thesisCall(thesisScope(feed), { limit: THESIS_BLOCK })
      : calloutCall(calloutScope(feed), {});
    const times = this.#cursors.length;
    this.plan = {
      calls: [{ ...call, times, least: times * (isThesis ? cu.thesisBlock : cu.launchpad) }],
      costs: (cost) => `Requesting ${this.#pages()} will cost ${cost}`,
    };
  }

  /**
   * Reads the pages again, and adds the posts to the gaps that should be in the files but are not.
   */
  async compare(joined: Verification, isThere: (id: string) => boolean): Promise<Verification> {
    const client = await this.#run.client();
    const source = this.#feed.isThesis
      ? thesisSource(client, thesisScope(this.#feed))
      : calloutSource(client, calloutScope(this.#feed));
    const missing = new Map<string, Unread>();
    let compared = 0;
    for (const before of this.#cursors) {
      const page = { before, limit: source.sizes.step };
      const { rows } = await source.page(page, this.#run.signal);
      for (const row of rows) {
        const { id, at } = row;
        if (!isWithin(this.#verified, at) || !this.#wants(row)) continue;
        compared++;
        if (!isThere(id))
          missing.set(id, { from: at, to: at, why: `the service has the post ${id}, and no file` });
      }
    }
    const found = missing.size === 0 ? 'all are there' : `${group(missing.size)} missing`;
    this.#run.notice(`compared ${countText(compared, 'post')} of ${this.#pages()}: ${found}`);
    if (missing.size === 0) return joined;
    const gaps = [...joined.gaps, ...missing.values()].sort((one, other) => one.from - other.from);
    return { ...joined, status: joined.status === 'complete' ? 'gaps' : joined.status, gaps };
  }

  #pages(): string {
    return countText(this.#cursors.length, 'page');
  }
}

/** The feed that the name in a certificate states. */
interface FeedName {
  readonly isThesis: boolean;
  /** The user of a thesis feed, or the coin of a callout feed. */
  readonly first: string | undefined;
  /** The tokens of a thesis feed, or the wallet of a callout feed. */
  readonly tokens: readonly string[];
  readonly baseUrl: string;
}

const thesisScope = ({ first, tokens }: FeedName): ThesisScope => ({
  userId: first,
  tokenAddress: tokens.length === 1 ? tokens[0] : undefined,
});

const calloutScope = ({ first, tokens }: FeedName): CalloutScope => ({
  mint: first,
  wallet: tokens[0],
});

/** Reads the name of a feed, which tails and lists write as `thesis USER TOKENS of URL`. */
function readFeedName(feed: string): FeedName {
  const [, name = '', baseUrl = ''] = /^(.*?) of (.*)$/s.exec(feed) ?? [];
  const [kind, first = '', rest = ''] = name.split(' ');
  if (kind !== 'thesis' && kind !== 'launchpad')
    throw usageError(
      `unknown feed in a certificate: ${feed}`,
      'use the version of trdr that wrote it',
    );
  const tokens = rest === '' ? [] : rest.split(',');
  return { isThesis: kind === 'thesis', first: first || undefined, tokens, baseUrl };
}

function filterOf({ filters }: Certificate, { isThesis, tokens }: FeedName) {
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const numberIn = (value: unknown) => (typeof value === 'number' ? value : undefined);
  const pattern = (text: unknown) => (typeof text === 'string' ? readPattern(text) : undefined);
  // Every filter of a certificate is named, because a missing one would report correct files as
  // incomplete.
  const conditions: Required<Conditions> = {
    tokens: isThesis ? tokens : [],
    users: texts(filters['users']),
    coins: texts(filters['coins']),
    wallets: texts(filters['wallets']),
    symbol: texts(filters['symbol']),
    network: texts(filters['network']),
    minHoldings: numberIn(filters['minHoldings']),
    minTrade: numberIn(filters['minTrade']),
    minLikes: numberIn(filters['minLikes']),
    devOnly: filters['devOnly'] === true,
    open: filters['open'] === true,
    closed: filters['closed'] === true,
    grep: pattern(filters['grep']),
    exclude: pattern(filters['exclude']),
  };
  return createFilter({
    ...conditions,
    symbolField: isThesis ? 'tokenSymbol' : 'coinSymbol',
    networkField: isThesis ? 'tokenNetwork' : 'chain',
  });
}
