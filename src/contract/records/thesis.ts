import * as z from 'zod/mini';
import { boolean, field, int, intOrNull, loose, string, stringOrNull } from '../field.ts';
import { THESIS_BLOCK } from '../limits.ts';
import { cooled, observed } from './provenance.ts';

const Segment = z.looseObject({
  text: loose(z.string(), 'Text of this part.'),
  link: loose(z.unknown(), 'URL that this part of the text links to.'),
});

const thesisShape = {
  id: string(
    'Thesis id; use it to detect duplicates and as the cursor of the next page; not related to user ids.',
  ),
  tokenAddress: loose(z.string(), 'Token the thesis is about.'),
  tokenNetwork: loose(z.string(), 'Name of the chain, for example sol, eth or base.'),
  tokenSymbol: loose(z.string(), 'Ticker.'),
  authorId: loose(z.string(), 'User id of the author.'),
  authorHandle: stringOrNull("Author's handle."),
  authorName: loose(z.string(), "Author's display name."),
  authorIsDev: loose(z.boolean(), 'Whether the author is the developer of the token.'),
  thesis: stringOrNull('The thesis text.'),
  segments: loose(z.array(Segment), 'The text in parts, some with a link.'),
  likeCount: loose(z.int(), 'Number of likes.'),
  holdingsUsd: loose(z.number(), "Author's position value in USD at post time."),
  authorTradeUsd: loose(z.number(), 'USD size of the trade behind the thesis.'),
  pnl: loose(
    z.number(),
    'PnL in USD: realizedPnlUsd, or unrealizedPnlUsd if there is no realized PnL.',
  ),
  realizedPnlUsd: loose(z.number(), 'Realized PnL in USD.'),
  unrealizedPnlUsd: loose(z.number(), 'Unrealized PnL in USD.'),
  percentageRealizedPnl: loose(z.number(), 'Realized PnL in percent.'),
  percentageUnrealizedPnl: loose(z.number(), 'Unrealized PnL in percent.'),
  tokenAmount: loose(z.number(), "Author's balance of the token."),
  closedAt: loose(
    z.int(),
    "When the author's position was closed, epoch ms; null while it is open and the PnL figures still change.",
  ),
  platformCreatedAt: intOrNull('Post time, epoch ms.'),
  updatedAt: loose(
    z.int(),
    'When the record was last written, epoch ms; may change although no other field does.',
  ),
};

export const Thesis = z.looseObject(thesisShape);
export type Thesis = z.infer<typeof Thesis>;

export const ThesisFrameData = z.looseObject({
  ...thesisShape,
  authorAvatarUrl: loose(z.string(), "URL of the author's avatar; only in live frames."),
  tokenImageUrl: loose(z.string(), "URL of the token's image; only in live frames."),
});
export type ThesisFrameData = z.infer<typeof ThesisFrameData>;

/** A thesis as trdr prints it: from a page, or from a frame. */
export const ListedThesis = z.looseObject({ ...thesisShape, ...observed });
/** A recorded thesis that was read again. */
export const RefreshedThesis = z.looseObject({
  ...ThesisFrameData.shape,
  ...observed,
  gone: z.optional(
    boolean('Whether two complete walks lack the thesis; absent if it was not read again.'),
  ),
});
export const TailedThesis = z.looseObject({ ...ThesisFrameData.shape, ...observed });
/** The same with --cooldown. */
export const CooledThesis = z.looseObject({ ...TailedThesis.shape, ...cooled });

const pageShape = {
  count: int('Number of items in this page.', { minimum: 0, maximum: THESIS_BLOCK }),
  hasMore: boolean('Whether older theses exist after this page.'),
  nextBefore: stringOrNull('Id of the oldest item, for the next page; null on the last page.'),
  updatedAt: intOrNull('Post time of the newest thesis in the page, epoch ms.'),
  items: field(z.array(Thesis), 'The theses, newest first.'),
};

export const ThesisPage = z.looseObject(pageShape);

export const TokenThesisPage = z.looseObject({
  ...pageShape,
  tokenAddress: string('Token address; EVM addresses are lower-cased.'),
  tokenNetwork: stringOrNull('Chain of the token; null if the page is empty.'),
  symbol: stringOrNull('Ticker of the token; null if the page is empty.'),
});

export const UserThesisPage = z.looseObject({
  ...pageShape,
  userId: string('The requested author id.'),
  tokenAddress: stringOrNull(
    'The requested token; null if theses about all tokens were requested.',
  ),
});
