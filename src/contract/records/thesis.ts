import * as z from 'zod/mini';
import { field, loose, nullable } from '../field.ts';

const Segment = z.looseObject({
  text: field(loose(z.string()), 'Text of this part.'),
  link: field(loose(z.unknown()), 'URL that this part of the text links to.'),
});

const thesisShape = {
  id: field(
    z.string(),
    'Thesis id; use it to detect duplicates and as the cursor of the next page; not related to user ids.',
  ),
  tokenAddress: field(loose(z.string()), 'Token the thesis is about.'),
  tokenNetwork: field(loose(z.string()), 'Name of the chain, for example sol, eth or base.'),
  tokenSymbol: field(loose(z.string()), 'Ticker.'),
  authorId: field(loose(z.string()), 'User id of the author.'),
  authorHandle: field(nullable(z.string()), "Author's handle."),
  authorName: field(loose(z.string()), "Author's display name."),
  authorIsDev: field(loose(z.boolean()), 'Whether the author is the developer of the token.'),
  thesis: field(nullable(z.string()), 'The thesis text.'),
  segments: field(loose(z.array(Segment)), 'The text in parts, some with a link.'),
  likeCount: field(loose(z.int()), 'Number of likes.'),
  holdingsUsd: field(loose(z.number()), "Author's position value in USD at post time."),
  authorTradeUsd: field(loose(z.number()), 'USD size of the trade behind the thesis.'),
  pnl: field(
    loose(z.number()),
    'PnL in USD: realizedPnlUsd, or unrealizedPnlUsd if there is no realized PnL.',
  ),
  realizedPnlUsd: field(loose(z.number()), 'Realized PnL in USD.'),
  unrealizedPnlUsd: field(loose(z.number()), 'Unrealized PnL in USD.'),
  percentageRealizedPnl: field(loose(z.number()), 'Realized PnL in percent.'),
  percentageUnrealizedPnl: field(loose(z.number()), 'Unrealized PnL in percent.'),
  tokenAmount: field(loose(z.number()), "Author's balance of the token."),
  closedAt: field(
    loose(z.int()),
    "When the author's position was closed, epoch ms; null while it is open and the PnL figures still change.",
  ),
  platformCreatedAt: field(nullable(z.int()), 'Post time, epoch ms.'),
  updatedAt: field(
    loose(z.int()),
    'When the record was last written, epoch ms; may change although no other field does.',
  ),
};

export const Thesis = z.looseObject(thesisShape);
export type Thesis = z.infer<typeof Thesis>;

export const ThesisFrameData = z.looseObject({
  ...thesisShape,
  authorAvatarUrl: field(loose(z.string()), "URL of the author's avatar; only in live frames."),
  tokenImageUrl: field(loose(z.string()), "URL of the token's image; only in live frames."),
});
export type ThesisFrameData = z.infer<typeof ThesisFrameData>;

const pageShape = {
  count: field(z.int(), 'Number of items in this page.'),
  hasMore: field(z.boolean(), 'Whether older theses exist after this page.'),
  nextBefore: field(nullable(z.string()), 'Id of the oldest item, for the next page; null on the last page.'),
  updatedAt: field(nullable(z.int()), 'Post time of the newest thesis in the page, epoch ms.'),
  items: field(z.array(Thesis), 'The theses, newest first.'),
};

export const ThesisPage = z.looseObject(pageShape);
export type ThesisPage = z.infer<typeof ThesisPage>;

export const TokenThesisPage = z.looseObject({
  ...pageShape,
  tokenAddress: field(z.string(), 'Token address; EVM addresses are lower-cased.'),
  tokenNetwork: field(nullable(z.string()), 'Chain of the token; null if the page is empty.'),
  symbol: field(nullable(z.string()), 'Ticker of the token; null if the page is empty.'),
});
export type TokenThesisPage = z.infer<typeof TokenThesisPage>;

export const UserThesisPage = z.looseObject({
  ...pageShape,
  userId: field(z.string(), 'The requested author id.'),
  tokenAddress: field(
    nullable(z.string()),
    'The requested token; null if theses about all tokens were requested.',
  ),
});
export type UserThesisPage = z.infer<typeof UserThesisPage>;
