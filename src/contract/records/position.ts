import * as z from 'zod/mini';
import {
  boolean,
  field,
  floatOrNull,
  int,
  intOrNull,
  nullable,
  optional,
  string,
  stringOrNull,
} from '../field.ts';
import { observed, obtained } from './provenance.ts';
import { FailedSubject, MissingSubject, UnaskedSubject } from './subject.ts';

/** A number of USD or percent, which is null if it is not known. */
const amount = (description: string) => floatOrNull(description);
const time = (description: string) => intOrNull(`${description}, epoch ms.`);

const positionShape = {
  authorId: string('User id of the author.'),
  authorHandle: stringOrNull("Author's handle in the post that was written last."),
  token: string('Address of the token; EVM addresses are lower-cased.'),
  network: stringOrNull('Name of the chain.'),
  symbol: stringOrNull('Ticker.'),
  firstAt: int('Time of its first post that was read, epoch ms.'),
  lastAt: int('Time of its last post, epoch ms.'),
  posts: int('Its posts that were read.'),
  tradeUsd: amount('USD size of the trade behind its first post.'),
  holdingsUsd: amount('Its value in USD when the last post was written, not now.'),
  status: field(
    z.enum(['open', 'closed', 'unknown']),
    'Whether it is open or closed; unknown if its posts do not say.',
  ),
  closedAt: time('When it was closed'),
  heldMs: intOrNull('From its first post to its close, ms.'),
  pnlUsd: amount('PnL in USD: final if it is closed, running if it is open.'),
  pnlPct: amount('PnL in percent, likewise final or running.'),
  isDev: boolean('Whether its author is the developer, by any of its posts.'),
};

export const PositionRecord = z.looseObject({
  ...positionShape,
  readAt: time('When the posts were read'),
  change: optional(
    z.enum(['new', 'closed', 'changed', 'left']),
    'In a comparison: what changed; "left" if only the earlier output has it.',
  ),
  changes: optional(
    z.looseObject({ pnlUsd: amount('New minus old.'), posts: int('New minus old.') }),
    'In a comparison: the differences of its figures.',
  ),
});

/** What one author had in one token, as the posts about it say. */
export type AuthorPosition = {
  readonly [K in keyof typeof positionShape]: z.infer<(typeof positionShape)[K]>;
};

const NamedResult = z.looseObject({
  token: string('Address of the token.'),
  symbol: stringOrNull('Ticker.'),
  pnlUsd: field(z.number(), 'PnL in USD.'),
});

const closedShape = {
  positions: int('Number of closed positions.'),
  won: int('Those with a PnL above 0.'),
  lost: int('Those with a PnL below 0.'),
  unknown: int('Those without a PnL, which are in no sum.'),
  sumUsd: amount('Sum of their PnL in USD.'),
  meanUsd: amount('Mean of their PnL in USD.'),
  medianUsd: amount('Median of their PnL in USD; null for fewer than five.'),
  valuesUsd: optional(z.array(z.number()), 'Their PnL in USD, best first, if fewer than five.'),
  best: nullable(NamedResult, 'The position with the highest PnL.'),
  worst: nullable(NamedResult, 'The position with the lowest PnL.'),
  largestShare: amount('Share of the sum that the largest gain or loss makes: 1 is all of it.'),
  heldMedianMs: floatOrNull(
    'Median of the time from first post to close, ms; null for fewer than five.',
  ),
  heldValuesMs: optional(z.array(z.number()), 'These times, shortest first, if fewer than five.'),
};
const Closed = z.looseObject(closedShape);

const openShape = {
  positions: int('Number of open positions.'),
  unknown: int('Those without a PnL.'),
  runningSumUsd: amount('Sum of their running PnL in USD.'),
};
const Open = z.looseObject(openShape);

const Beside = z.looseObject({
  withoutId: int('Without an id, so that they are not among the posts.'),
  withoutAuthor: int('Without an author id.'),
  withoutToken: int('Without a token.'),
  withoutTime: int('Without a usable time.'),
});
export type PostsBeside = { readonly [K in keyof z.infer<typeof Beside>]: number };

/** What was read, and how complete it is. */
const reading = {
  posts: int('Number of posts that were read.'),
  from: time('Time of the oldest post that was read'),
  to: time('Time of the newest post that was read'),
  complete: boolean(
    'Whether all posts of the range were read: the walk reached its end, or certificates vouch.',
  ),
};

const summary = {
  closed: nullable(Closed, 'Positions that are closed, with final figures; null with --open.'),
  open: nullable(Open, 'Positions that are open, whose figures change; null with --closed.'),
  unknownStatus: int('Positions whose posts do not say whether they are open.'),
  tradeMedianUsd: amount('Median of the trades behind the first posts, in USD.'),
  tokens: int('Different tokens.'),
  networks: field(z.array(z.string()), 'Chains of the positions.'),
  beside: field(Beside, 'Posts that belong to no position.'),
};

/** What the positions of one author amount to. */
export interface PositionsSummary {
  readonly closed: z.infer<typeof Closed>;
  readonly open: z.infer<typeof Open>;
  readonly unknownStatus: number;
  readonly tradeMedianUsd: number | null;
  readonly tokens: number;
  readonly networks: string[];
}

const FoundAuthor = z.looseObject({
  subject: string('The subject as the user wrote it.'),
  found: field(z.literal(true), 'True: the author was found.'),
  id: stringOrNull('User id of the author.'),
  handle: stringOrNull('Handle of the author.'),
  name: stringOrNull('Display name of the author.'),
  ...reading,
  ...summary,
  ...obtained,
  ...observed,
});
export type FoundAuthor = z.infer<typeof FoundAuthor>;

export const AuthorRecord = z.union([FoundAuthor, MissingSubject, UnaskedSubject, FailedSubject]);

const { status, tradeUsd, holdingsUsd, pnlUsd, pnlPct, authorId, authorHandle } = positionShape;
const tokenAuthorShape = {
  authorId,
  authorHandle,
  firstAt: int('Time of the first post about the token that was read, epoch ms.'),
  lastAt: int('Time of the last post about the token, epoch ms.'),
  posts: int('Number of posts about the token that were read.'),
  positions: int('Number of positions in the token; the figures are those of the last one.'),
  status,
  tradeUsd,
  holdingsUsd,
  pnlUsd,
  pnlPct,
  isDev: boolean('Whether the author is the developer of the token.'),
};

/** What one author posted about a token, and the last position of this author in it. */
export type TokenAuthor = {
  readonly [K in keyof typeof tokenAuthorShape]: z.infer<(typeof tokenAuthorShape)[K]>;
};

export const TokenAuthorRecord = z.looseObject(tokenAuthorShape);
const TokenAuthors = z.array(TokenAuthorRecord);

export const TokenRecord = z.looseObject({
  token: string('Address of the token; EVM addresses are lower-cased.'),
  network: stringOrNull('Name of the chain.'),
  symbol: stringOrNull('Ticker.'),
  ...reading,
  days: field(
    z.array(z.looseObject({ day: string('YYYY-MM-DD.'), posts: int('Number of posts.') })),
    'The posts of each day that has some, oldest first.',
  ),
  authors: field(TokenAuthors, 'The authors, each once, without the developer.'),
  devs: field(TokenAuthors, 'The developer of the token, who is not among the authors.'),
  closed: field(
    z.looseObject(closedShape),
    'Positions that are closed, those of the developer too; final figures.',
  ),
  open: field(
    z.looseObject(openShape),
    'Positions that are open, those of the developer too; they still change.',
  ),
  callouts: nullable(
    z.looseObject({
      posts: int('Number of callouts that were read.'),
      from: time('Time of the oldest one'),
      to: time('Time of the newest one'),
      complete: boolean('Whether all callouts of the range were read.'),
      medianMultiple: amount(
        'Median of their price moves since, as multipliers; null for fewer than five.',
      ),
      multiples: optional(z.array(z.number()), 'Their price moves, if fewer than five.'),
    }),
    'Callouts of the coin on the launchpad; null if they were not read.',
  ),
  first: nullable(
    z.looseObject({
      author: stringOrNull(
        'Handle of the author, or the user name of a callout, or its wallet without one.',
      ),
      at: int('Post time, epoch ms.'),
      by: field(z.enum(['thesis', 'callout']), 'What the first post is.'),
    }),
    'Who was first; null with --since, and unless theses and callouts were read to their ends.',
  ),
  beside: field(Beside, 'Posts that belong to no position.'),
  ...obtained,
});
export type TokenRecord = z.infer<typeof TokenRecord>;
