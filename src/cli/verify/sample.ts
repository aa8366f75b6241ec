import { usageError } from '../../base/failure.ts';
import { countText, group } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import type { Verification } from '../../contract/records/verification.ts';
import { calloutCall, thesisCall } from '../../core/pages/feeds.ts';
import { type Conditions, createFilter, readPattern } from '../../core/pages/filter.ts';
import type { Plan } from '../../core/spend/plan.ts';
import { safeLine } from '../../output/terminal/safe-text.ts';
import { type Certificate, type Unread, without } from '../../tail/certificate.ts';
import { postIn } from '../../tail/file/line-count.ts';
import { calloutSource, thesisSource } from '../../tail/source.ts';
import type { ScannedFile } from '../../verify/scan.ts';
import type { Context } from '../run/context.ts';

/**
 * Chooses random pages to request again: those that follow a line whose post time is in a verified
 * stretch.
 */
export function planSample(
  context: Context,
  scanned: readonly ScannedFile[],
  { from, to, gaps }: Verification,
  sample: number,
) {
  const { io, signal } = context.terminal;
  const certificate = scanned.find((each) => each.certificate)?.certificate;
  if (!certificate || from === null || to === null)
    throw usageError(
      '--sample needs a file with a verified stretch',
      'verify the files without --sample',
    );
  const feed = readFeedName(certificate.feed);
  const { isThesis, first, tokens, baseUrl } = feed;
  if (context.service.scope && context.service.scope.baseUrl !== baseUrl)
    throw usageError(
      `the files are from ${safeLine(baseUrl)}, and --sample would ask ${context.service.scope.baseUrl}`,
      'choose the service with --profile or --base-url',
    );
  const stretches = without([{ from, to }], gaps);
  const isVerified = (at: number | null): at is number =>
    at !== null && stretches.some((stretch) => at >= stretch.from && at <= stretch.to);
  const cursors = scanned
    .flatMap(({ picked }) => picked)
    .flatMap((line) => postIn(line, isThesis ? 'platformCreatedAt' : 'createdAt') ?? [])
    .filter(({ at }) => isVerified(at))
    .map(({ id }) => ({ id, place: io.random() }))
    .sort((one, other) => one.place - other.place)
    .slice(0, sample)
    .map(({ id }) => id);
  const thesis = { userId: first, tokenAddress: tokens.length === 1 ? tokens[0] : undefined };
  const callouts = { mint: first, wallet: tokens[0] };
  const call = isThesis ? thesisCall(thesis, { limit: THESIS_BLOCK }) : calloutCall(callouts, {});
  const wants = filterOf(certificate, feed);
  // A post that passes now may not have passed when the file was written.
  if (['closed', 'minLikes'].some((name) => name in certificate.filters))
    throw usageError(
      '--sample cannot be used with files of --closed or --min-likes: what they look at changes',
      'verify the files without --sample',
    );
  const pages = countText(cursors.length, 'page');

  /**
   * Reads the pages again, and adds the posts to the gaps that should be in the files but are not.
   */
  async function compare(
    joined: Verification,
    isThere: (id: string) => boolean,
  ): Promise<Verification> {
    const client = await context.service.client();
    const source = isThesis ? thesisSource(client, thesis) : calloutSource(client, callouts);
    const missing = new Map<string, Unread>();
    let compared = 0;
    for (const before of cursors) {
      const { rows } = await source.page({ before, limit: source.sizes.step }, signal);
      for (const row of rows) {
        const { id, at } = row;
        if (!isVerified(at) || !wants(row)) continue;
        compared++;
        if (!isThere(id))
          missing.set(id, { from: at, to: at, why: `the service has the post ${id}, and no file` });
      }
    }
    const found = missing.size === 0 ? 'all are there' : `${group(missing.size)} missing`;
    context.terminal.notice(`compared ${countText(compared, 'post')} of ${pages}: ${found}`);
    if (missing.size === 0) return joined;
    const gaps = [...joined.gaps, ...missing.values()].sort((one, other) => one.from - other.from);
    return { ...joined, status: joined.status === 'complete' ? 'gaps' : joined.status, gaps };
  }
  const least = cursors.length * (isThesis ? cu.thesisBlock : cu.launchpad);
  const plan: Plan = {
    calls: [{ ...call, times: cursors.length, least }],
    costs: (cost) => `Requesting ${pages} will cost ${cost}`,
  };
  return { plan, compare };
}

/** Reads the name of a feed, which tails and lists write as `thesis USER TOKENS of URL`. */
function readFeedName(feed: string) {
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

function filterOf({ filters }: Certificate, { isThesis, tokens }: ReturnType<typeof readFeedName>) {
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
