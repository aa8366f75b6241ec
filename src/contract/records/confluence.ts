import * as z from 'zod/mini';
import { field, float, floatOrNull, int, string, stringOrNull } from '../field.ts';
import { cooled } from './provenance.ts';

/** Several authors who posted about one token within a short time. */
export const ConfluenceRecord = z.looseObject({
  id: string('Id of the first post; the same in each version.'),
  version: int('Counts from 1.'),
  tokenAddress: stringOrNull('Token.'),
  tokenSymbol: stringOrNull('Ticker.'),
  tokenNetwork: stringOrNull('Network.'),
  authors: field(z.array(z.nullable(z.string())), 'Handles, in the order of the posts.'),
  count: int('Authors.'),
  firstAt: float('First post time.'),
  lastAt: float('Last post time.'),
  holdingsUsd: floatOrNull('Sum of the holdings.'),
  posts: field(z.array(z.record(z.string(), z.unknown())), 'First post of each author.'),
});

/** The same with --cooldown. */
export const CooledConfluence = z.looseObject({ ...ConfluenceRecord.shape, ...cooled });
