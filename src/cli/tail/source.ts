import { cu, thesisBlocks } from '../../contract/endpoints.ts';
import { CALLOUT_PAGE, THESIS_BLOCK, THESIS_LIMIT_MAX } from '../../contract/limits.ts';
import type { Client } from '../../contract/ports.ts';
import { readAccount } from '../../contract/records/account.ts';
import { leftOf } from '../../core/account.ts';
import { type CalloutScope, calloutCall, type ThesisScope, thesisCall } from '../../core/pages/feeds.ts';
import type { KeyFacts, PageSource } from '../../tail/ports.ts';
import { type PostFields, type TailRow, tailRow } from '../../tail/row.ts';

const rowsOf = (items: readonly PostFields[], timeField: string): TailRow[] =>
  items.map((item) => tailRow(item, timeField)).filter((row) => row !== null);

/**
 * The pages of a thesis feed, as the tail walks them. It asks again itself where an answer was lost, since it
 * knows what the socket costs beside them and what the ceiling still holds.
 */
export const thesisSource = (client: Client, scope: ThesisScope): PageSource => ({
  async page({ before, limit }, signal) {
    const { id, ask } = thesisCall(scope, { before, limit });
    const { record, charge } = await client.call(id, ask, { signal, once: true });
    return { ...pageOf(record), rows: rowsOf(record.items, 'platformCreatedAt'), cu: charge.cu };
  },
  spent: () => client.spent,
  price: (limit) => cu.thesisBlock * thesisBlocks(limit),
  sizes: { step: THESIS_BLOCK, max: THESIS_LIMIT_MAX },
});

/** The pages of a callout feed: one size, one price. */
export const calloutSource = (client: Client, scope: CalloutScope): PageSource => ({
  async page({ before }, signal) {
    const { id, ask } = calloutCall(scope, { before });
    const { record, charge } = await client.call(id, ask, { signal, once: true });
    return { ...pageOf(record), rows: rowsOf(record.items, 'createdAt'), cu: charge.cu };
  },
  spent: () => client.spent,
  price: () => cu.launchpad,
  sizes: { step: CALLOUT_PAGE, max: CALLOUT_PAGE },
});

const pageOf = ({
  hasMore,
  nextBefore,
}: {
  readonly hasMore: boolean;
  readonly nextBefore: string | null;
}) => ({
  hasMore,
  nextBefore,
});

/** What the tail asks of the key, by the free `me`. */
export const keyFacts =
  (client: Client) =>
  async (signal: AbortSignal): Promise<KeyFacts> => {
    const { record } = await client.call('me', {}, { signal });
    // Whether a plan has the live feed is not in the record: the handshake tells.
    return { remaining: leftOf(record).units, live: null, ratePerMinute: readAccount(record).ratePerMinute };
  };
