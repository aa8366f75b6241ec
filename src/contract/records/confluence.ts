import * as z from 'zod/mini';
import { field } from '../field.ts';

/** What `--confluence` prints: several authors who posted about one token within a short time. */
export const ConfluenceRecord = z.looseObject({
  id: field(z.string(), 'Id of the first post; the same in each version.'),
  version: field(z.int(), 'Counts from 1.'),
  tokenAddress: field(z.nullable(z.string()), 'Token.'),
  tokenSymbol: field(z.nullable(z.string()), 'Ticker.'),
  tokenNetwork: field(z.nullable(z.string()), 'Network.'),
  authors: field(z.array(z.nullable(z.string())), 'Handles, in the order of the posts.'),
  count: field(z.int(), 'Authors.'),
  firstAt: field(z.number(), 'First post time.'),
  lastAt: field(z.number(), 'Last post time.'),
  holdingsUsd: field(z.nullable(z.number()), 'Sum of the holdings.'),
  posts: field(z.array(z.record(z.string(), z.unknown())), 'First post of each author.'),
});
