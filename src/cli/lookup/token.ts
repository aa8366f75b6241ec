import { Failure, usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { trimText } from '../../base/trim-text.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import { cu } from '../../contract/prices.ts';
import type { Sent } from '../../contract/read-record.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { normalSymbol, normalToken } from '../../core/pages/filter.ts';
import { walkPages } from '../../core/pages/walk.ts';
import { type KnownToken, noteTokens, tokensIn } from '../../state/known-tokens.ts';
import { addressOf } from '../args/address.ts';
import type { Context, Planned } from '../context.ts';

/** The maximum number of pages that are searched for a ticker. */
const PAGES = 5;
/** Matches a ticker: every valid address is longer. */
const SYMBOL = /^\$?[^\s\p{C}]{1,24}$/u;

/** The value of --token: an address, or a ticker whose address must be found. */
export type TokenChoice = { readonly address: string } | { readonly symbol: string };

/**
 * Parses --token. A short text is a ticker, unless it begins with `0x`: it is then an incomplete EVM address,
 * which is rejected.
 */
export async function readToken(given: string): Promise<TokenChoice> {
  const text = trimText(given);
  if (/[,;]/.test(text))
    throw usageError(
      `--token: expected one token, got a list: ${text.slice(0, 100)}`,
      'pass one token; to list theses about several, filter with --symbol for each of them',
    );
  if (!SYMBOL.test(text) || /^0x/i.test(text)) return { address: await addressOf('--token', text) };
  return { symbol: text };
}

/** The calls for finding a token, and their maximum cost. */
export function tokenCost(token: TokenChoice | undefined, context: Context) {
  if (token === undefined || 'address' in token || savedFor(token.symbol, context).length > 0) {
    return { most: 0, calls: [] };
  }
  const call: Planned = { ...thesisCall({}, { limit: THESIS_BLOCK }), times: PAGES };
  return { most: cu.thesisBlock * PAGES, calls: [call] };
}

/** Finds the address of a token. A ticker is searched for in the saved tokens, then in the newest theses. */
export async function tokenAddressOf(token: TokenChoice, context: Context): Promise<string> {
  if ('address' in token) return token.address;
  const { symbol } = token;
  const saved = savedFor(symbol, context);
  const found = saved.length > 0 ? saved : await search(symbol, context);
  const [first] = found;
  if (first === undefined) {
    throw new Failure('missing', `no token with the symbol ${shown(symbol)} in the newest theses`, {
      code: 'UNKNOWN_SYMBOL',
      hint: 'pass the address of the token',
    });
  }
  if (found.length > 1) {
    const candidates = found.map(
      ({ symbol: own, address, network }) => `${shown(own)} ${address} (${network || 'unknown chain'})`,
    );
    throw usageError(
      `${shown(symbol)} is the symbol of ${found.length} tokens`,
      `pass the address of one of them: ${candidates.join(', ')}`,
    );
  }
  context.notice(`${shown(symbol)} is ${first.address} on ${first.network || 'an unknown chain'}`);
  return first.address;
}

/** Yields posts unchanged, and saves their tokens for later searches by ticker. */
export async function* savingTokens(
  posts: AsyncIterable<Sent>,
  context: Context,
): AsyncGenerator<Sent, void, void> {
  const seen = new Map<string, KnownToken>();
  try {
    for await (const post of posts) {
      const token = tokenOf(post);
      if (token) seen.set(token.address, token);
      yield post;
    }
  } finally {
    save(context, [...seen.values()]);
  }
}

const shown = (symbol: string) => `$${symbol.replace(/^\$+/, '')}`;

function savedFor(symbol: string, context: Context): KnownToken[] {
  const { cache } = context.settings.folders;
  return cache === undefined ? [] : matching(tokensIn(cache), symbol);
}

/** The tokens with this symbol, ignoring case; one for each address. */
function matching(tokens: readonly KnownToken[], symbol: string): KnownToken[] {
  const wanted = normalSymbol(symbol);
  const found = tokens.filter((token) => normalSymbol(token.symbol) === wanted);
  return [...new Map(found.map((token) => [normalToken(token.address), token])).values()];
}

async function search(symbol: string, context: Context): Promise<KnownToken[]> {
  const tokens: KnownToken[] = [];
  const feed = thesisFeed(await context.client());
  const { signal, io } = context;
  for await (const post of walkPages(feed, { limit: PAGES * THESIS_BLOCK, clock: io.clock, signal })) {
    const token = tokenOf(post);
    if (token) tokens.push(token);
  }
  save(context, tokens);
  return matching(tokens, symbol);
}

function tokenOf(post: Sent): KnownToken | undefined {
  const [symbol, address] = [textOf(post['tokenSymbol']), textOf(post['tokenAddress'])];
  if (!symbol || !address) return undefined;
  return { symbol, address, network: textOf(post['tokenNetwork']) ?? '' };
}

/** Saves tokens. Failures are ignored: if a token is not saved, a later run searches for its ticker again. */
function save(context: Context, tokens: readonly KnownToken[]): void {
  const { cache } = context.settings.folders;
  if (cache === undefined) return;
  try {
    noteTokens(cache, tokens);
  } catch {}
}
