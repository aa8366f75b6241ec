import { cu, type EndpointId, thesisBlocks } from '../../contract/endpoints.ts';
import { CALLOUT_PAGE, THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';
import type { Client, Result } from '../../contract/ports.ts';
import { readAccount } from '../../contract/records/account.ts';
import { readPage } from '../../contract/records/page.ts';
import { leftOf } from '../../core/account.ts';
import { type CalloutScope, calloutCall, type ThesisScope, thesisCall } from '../../core/pages/feeds.ts';
import type { FeedPage, KeyFacts, PageSource } from '../../tail/ports.ts';
import { tailRows } from '../../tail/row.ts';

/**
 * The pages of a thesis feed, as the tail walks them. It asks again itself where an answer was lost, since it
 * knows what the socket costs beside them and what the ceiling still holds.
 */
export const thesisSource = (client: Client, scope: ThesisScope): PageSource => ({
  async page({ before, limit }, signal) {
    const { id, ask } = thesisCall(scope, { before, limit });
    const answer = await client.call(id, ask, { signal, once: true });
    return pageOf(answer, Math.min(limit, THESIS_BLOCK), 'platformCreatedAt');
  },
  spent: () => client.spent,
  price: (limit) => cu.thesisBlock * thesisBlocks(limit),
  sizes: { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX },
});

/** The pages of a callout feed: one size, one price. */
export const calloutSource = (client: Client, scope: CalloutScope): PageSource => ({
  async page({ before }, signal) {
    const { id, ask } = calloutCall(scope, { before });
    const answer = await client.call(id, ask, { signal, once: true });
    return pageOf(answer, CALLOUT_PAGE, 'createdAt');
  },
  spent: () => client.spent,
  price: () => cu.launchpad,
  sizes: { step: CALLOUT_PAGE, max: CALLOUT_PAGE },
});

function pageOf(
  { record, charge }: Pick<Result<EndpointId>, 'record' | 'charge'>,
  size: number,
  timeField: string,
): FeedPage {
  const { items, hasMore, nextBefore } = readPage(record, size);
  return { ...tailRows(items, timeField), hasMore, nextBefore, cu: charge.cu };
}

/** What the tail asks of the key, by the free `me`. */
export const keyFacts =
  (client: Client) =>
  async (signal: AbortSignal): Promise<KeyFacts> => {
    const { record, known } = await client.call('me', {}, { signal });
    // Whether a plan has the live feed is not in the record: the handshake tells.
    return { remaining: leftOf(known).units, live: null, ratePerMinute: readAccount(record).ratePerMinute };
  };
