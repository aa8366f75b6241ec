import * as z from 'zod/mini';
import { field, loose, nullable } from '../field.ts';

/** A run of rich text: text, and perhaps a link. */
export const Segment = z.looseObject({
  text: field(loose(z.string()), 'Text of the run.'),
  link: field(loose(z.unknown()), 'Link of the run.'),
});

const thesisShape = {
  id: field(z.string(), 'Thesis id; dedupe key and pagination cursor; unrelated to a user id.'),
  tokenAddress: field(loose(z.string()), 'Token the thesis is about.'),
  tokenNetwork: field(loose(z.string()), 'Chain name, for example sol, eth, base.'),
  tokenSymbol: field(loose(z.string()), 'Ticker.'),
  authorId: field(loose(z.string()), "Author's user id, the id of a user record."),
  authorHandle: field(nullable(z.string()), "Author's handle."),
  authorName: field(loose(z.string()), "Author's display name."),
  authorIsDev: field(loose(z.boolean()), "Author is the token's dev."),
  thesis: field(nullable(z.string()), 'The thesis text.'),
  segments: field(loose(z.array(Segment)), 'Rich-text runs: text plus optional link.'),
  likeCount: field(loose(z.int()), 'Number of likes.'),
  holdingsUsd: field(loose(z.number()), "Author's position value in USD at post time."),
  authorTradeUsd: field(loose(z.number()), 'USD size of the trade behind the thesis.'),
  pnl: field(loose(z.number()), 'PnL in USD: realized, falling back to unrealized.'),
  realizedPnlUsd: field(loose(z.number()), 'Realized PnL in USD.'),
  unrealizedPnlUsd: field(loose(z.number()), 'Unrealized PnL in USD.'),
  percentageRealizedPnl: field(loose(z.number()), 'Realized PnL in percent.'),
  percentageUnrealizedPnl: field(loose(z.number()), 'Unrealized PnL in percent.'),
  tokenAmount: field(loose(z.number()), "Author's token balance behind the thesis."),
  closedAt: field(
    loose(z.int()),
    "When the author's position closed, epoch ms; null while open, when PnL figures are running, not final.",
  ),
  platformCreatedAt: field(nullable(z.int()), 'Post time, epoch ms.'),
  updatedAt: field(
    loose(z.int()),
    'When the record was last written, epoch ms; can change with no field changing.',
  ),
};

/** A written rationale attached to a token. */
export const Thesis = z.looseObject(thesisShape);
export type Thesis = z.infer<typeof Thesis>;

/** A thesis as a frame carries it: two more fields. */
export const ThesisFrameData = z.looseObject({
  ...thesisShape,
  authorAvatarUrl: field(loose(z.string()), "Author's avatar URL; on live frames only."),
  tokenImageUrl: field(loose(z.string()), 'Token image URL; on live frames only.'),
});
export type ThesisFrameData = z.infer<typeof ThesisFrameData>;

const pageShape = {
  count: field(z.int(), 'Items in this page.'),
  hasMore: field(z.boolean(), 'Older theses exist behind this page.'),
  nextBefore: field(
    nullable(z.string()),
    'Id of the oldest item here; send as before; null on the last page.',
  ),
  updatedAt: field(nullable(z.int()), 'Post time of the newest thesis in the page, epoch ms.'),
  items: field(z.array(Thesis), 'The theses, newest first.'),
};

export const ThesisPage = z.looseObject(pageShape);
export type ThesisPage = z.infer<typeof ThesisPage>;

export const TokenThesisPage = z.looseObject({
  ...pageShape,
  tokenAddress: field(z.string(), 'Normalized: EVM lower-cased.'),
  tokenNetwork: field(nullable(z.string()), 'Null when the page is empty.'),
  symbol: field(nullable(z.string()), 'Null when the page is empty.'),
});
export type TokenThesisPage = z.infer<typeof TokenThesisPage>;

export const UserThesisPage = z.looseObject({
  ...pageShape,
  userId: field(z.string(), 'The author id echoed.'),
  tokenAddress: field(
    nullable(z.string()),
    'The token the page is narrowed to; null on the whole user feed.',
  ),
});
export type UserThesisPage = z.infer<typeof UserThesisPage>;
