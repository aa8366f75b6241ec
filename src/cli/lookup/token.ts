import { quietly } from '../../base/calls.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { trimText } from '../../base/trim-text.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import type { Sent } from '../../contract/read-record.ts';
import { isShortened } from '../../core/lookup/subject.ts';
import { thesisCall, thesisFeed } from '../../core/pages/feeds.ts';
import { normalSymbol, normalToken } from '../../core/pages/filter.ts';
import { readPages } from '../../core/pages/read-pages.ts';
import { namesText } from '../../output/notices.ts';
import { type KnownToken, noteTokens, tokensIn } from '../../state/recent-lines.ts';
import { addressOf } from '../args/subjects.ts';
import type { Context, Planned } from '../context.ts';

const PAGES = 5;
/** Matches a ticker: every valid address is longer. */
const SYMBOL = /^\$?[^\s\p{C}]{1,24}$/u;

type TokenChoice = { readonly address: string } | { readonly symbol: string };

/** A short text is a ticker, unless it begins with `0x`: it is then an incomplete EVM address, which is rejected. */
export async function readToken(given: string): Promise<TokenChoice> {
  const text = trimText(given);
  if (/[,;]/.test(text))
    throw usageError(
      `--token: expected one token, got a list: ${text.slice(0, 100)}`,
      'pass one token; to list theses about several, filter with --symbol for each of them',
    );
  if (!SYMBOL.test(text) || /^0x|\//i.test(text) || isShortened(text))
    return { address: await addressOf('--token', text) };
  return { symbol: text };
}

/** The calls for finding a token, and their maximum cost; `userId` is the author among whose theses it is searched. */
export function tokenCost(
  token: TokenChoice | undefined,
  userId: string | undefined,
  context: Context,
): Planned[] {
  const isKnown =
    token === undefined ||
    'address' in token ||
    (userId === undefined && savedFor(token.symbol, context).length > 0);
  if (isKnown) return [];
  return [{ ...thesisCall({ userId }, { limit: THESIS_BLOCK }), times: PAGES }];
}

type Author = { readonly userId: string; readonly name: string } | undefined;

/** Searches the saved tokens, then the newest theses; with an author, only theirs, because tickers are not unique. */
export async function tokenAddressOf(
  token: TokenChoice,
  author: Author,
  context: Context,
): Promise<string> {
  if ('address' in token) return token.address;
  const { symbol } = token;
  const saved = author ? [] : savedFor(symbol, context);
  const read = saved.length > 0 ? saved : await search(symbol, author, context);
  const found = matching(read, symbol);
  const [first] = found;
  if (first === undefined) {
    const whose = author ? `theses of ${author.name}` : 'theses';
    const others = [...new Set(read.map((each) => shown(each.symbol)))];
    throw new Failure(
      'missing',
      `no token with the symbol ${shown(symbol)} in the newest ${whose}`,
      {
        code: 'UNKNOWN_SYMBOL',
        hint: `${author && others.length > 0 ? `choose from ${namesText(others)}, or ` : ''}pass the address of the token`,
      },
    );
  }
  if (found.length > 1) {
    const candidates = found.map(
      ({ symbol: own, address, network }) =>
        `${shown(own)} ${address} (${network || 'unknown chain'})`,
    );
    throw usageError(
      `${shown(symbol)} is the symbol of ${found.length} tokens`,
      `pass the address of one of them: ${candidates.join(', ')}`,
    );
  }
  context.notice(`${shown(symbol)} is ${first.address} on ${first.network || 'an unknown chain'}`);
  return first.address;
}

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

/** Reads on after the ticker was found, because a second token may have it too, unless there is an author. */
async function search(symbol: string, author: Author, context: Context): Promise<KnownToken[]> {
  const tokens: KnownToken[] = [];
  const feed = thesisFeed(await context.client(), { userId: author?.userId });
  const { signal, io } = context;
  let pages = 0;
  for await (const { fresh } of readPages(feed, { clock: io.clock, signal }, () => THESIS_BLOCK)) {
    tokens.push(...fresh.flatMap((post) => tokenOf(post) ?? []));
    pages++;
    if (pages >= PAGES || (author && matching(tokens, symbol).length > 0)) break;
  }
  save(context, tokens);
  return tokens;
}

function tokenOf(post: Sent): KnownToken | undefined {
  const [symbol, address] = [textOf(post['tokenSymbol']), textOf(post['tokenAddress'])];
  if (!symbol || !address) return undefined;
  return { symbol, address, network: textOf(post['tokenNetwork']) ?? '' };
}

/** Saves tokens. Failures are ignored: if a token is not saved, a later run searches for its ticker again. */
function save(context: Context, tokens: readonly KnownToken[]): void {
  const { cache } = context.settings.folders;
  if (cache !== undefined) quietly(() => noteTokens(cache, tokens));
}
