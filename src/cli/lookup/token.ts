import { once, quietly } from '../../base/calls.ts';
import { Failure, usageError } from '../../base/failure.ts';
import { textOf } from '../../base/json-object.ts';
import { didYouMean } from '../../base/suggest.ts';
import { trimText } from '../../base/trim-text.ts';
import type { Sent } from '../../contract/read-record.ts';
import { isShortened } from '../../core/lookup/subject.ts';
import { normalSymbol, normalToken } from '../../core/pages/filter.ts';
import type { PageRow } from '../../core/pages/post.ts';
import type { PositionPost } from '../../core/positions/positions.ts';
import { type KnownToken, noteTokens, tokensIn } from '../../state/known-tokens.ts';
import { addressOf, type TokenPlace } from '../args/subjects.ts';
import type { Context } from '../run/context.ts';

/** Matches a symbol: every valid address is longer. */
const SYMBOL = /^\$?[^\s\p{C}]{1,24}$/u;

/**
 * The address of the token that --token names: by its address, or by its symbol if an earlier list
 * printed it. Nothing is requested, because a search costs as much as a list and finds nothing for
 * a misspelled symbol.
 */
async function tokenAddress(
  typed: string,
  context: Context,
  symbols: () => Symbols,
  where: TokenPlace,
): Promise<string> {
  const text = trimText(typed);
  if (/[,;]/.test(text))
    throw usageError(
      `${where}: expected one token, got a list: ${text.slice(0, 100)}`,
      where === 'TOKEN'
        ? 'run the command once for each token'
        : 'separate tokens by commas; or filter with --symbol',
    );
  // A short text that begins with 0x is an incomplete EVM address.
  const isSymbol = SYMBOL.test(text) && !/^0x|\//i.test(text) && !isShortened(text);
  return isSymbol ? addressOfSymbol(text, context, symbols()) : await addressOf(where, text);
}

/**
 * The addresses as the service writes them: it promises to ignore the case of an EVM address in
 * paths, but not in subscriptions. A symbol is that of a token of these posts, or of earlier lists.
 */
export async function tokenAddresses(
  texts: readonly string[],
  context: Context,
  posts?: Iterable<TokenFacts>,
  where: TokenPlace = '--token',
): Promise<string[]> {
  // The posts of files can be read once.
  const symbols = once(() => ({
    tokens: posts === undefined ? savedTokens(context) : [...tokensOf(posts)],
    areSaved: posts === undefined,
  }));
  const addresses = await Promise.all(
    texts.map((text) => tokenAddress(text, context, symbols, where)),
  );
  return [...new Set(addresses.map(normalToken))];
}

type TokenFacts = Pick<PositionPost, 'token' | 'symbol' | 'network'>;

/** The tokens among which a symbol is looked for: those of earlier lists, or of files. */
interface Symbols {
  readonly tokens: readonly KnownToken[];
  readonly areSaved: boolean;
}

function addressOfSymbol(symbol: string, context: Context, symbols: Symbols): string {
  const matches = matching(symbols.tokens, symbol);
  const [first] = matches;
  if (first === undefined) throw unknownSymbol(symbol, symbols);
  if (matches.length > 1) {
    const candidates = matches.map(
      ({ symbol: own, address, network }) =>
        `${shown(own)} ${address} (${network || 'unknown chain'})`,
    );
    throw usageError(
      `${shown(symbol)} is the symbol of ${matches.length} tokens`,
      `pass the address of one of them: ${candidates.join(', ')}`,
    );
  }
  context.terminal.notice(
    `${shown(symbol)} is ${first.address} on ${first.network || 'an unknown chain'}`,
  );
  return first.address;
}

function unknownSymbol(symbol: string, { tokens, areSaved }: Symbols): Failure {
  const name = symbol.replace(/^\$+/, '');
  const symbols = [...new Set(tokens.map((token) => token.symbol))];
  const near = didYouMean(name, symbols, shown);
  const list = `list theses with this symbol once, which saves it: trdr thesis list --symbol ${name} --limit 1`;
  const search = areSaved ? `pass the address, or ${list}` : 'pass the address';
  const where = areSaved ? 'no earlier list printed' : 'the files do not have';
  return new Failure('missing', `${where} a token with the symbol ${shown(symbol)}`, {
    code: 'UNKNOWN_SYMBOL',
    hint: near ? `${near} Otherwise, ${search}` : search,
  });
}

export async function* savingTokens(
  posts: AsyncIterable<PageRow> | Iterable<PageRow>,
  context: Context,
): AsyncGenerator<PageRow, void, void> {
  const seen = new Map<string, KnownToken>();
  try {
    for await (const post of posts) {
      const token = tokenOf(post.record);
      if (token) seen.set(token.address, token);
      yield post;
    }
  } finally {
    save(context, [...seen.values()]);
  }
}

/** Saves the tokens of posts that were read as a whole. */
export function saveTokens(context: Context, posts: readonly TokenFacts[]): void {
  const seen = new Map<string, KnownToken>();
  for (const post of posts) {
    const token = knownToken(post);
    if (token) seen.set(token.address, token);
  }
  save(context, [...seen.values()]);
}

const shown = (symbol: string) => `$${symbol.replace(/^\$+/, '')}`;

function savedTokens(context: Context): readonly KnownToken[] {
  const { cache } = context.settings.folders;
  return cache === undefined ? [] : tokensIn(cache);
}

/** The symbols, or the chains, of the tokens that earlier lists printed. */
export const savedValues = (context: Context, name: 'symbol' | 'network'): readonly string[] =>
  savedTokens(context).map((token) => token[name]);

/** The tokens with this symbol, ignoring case; one for each address. */
function matching(tokens: readonly KnownToken[], symbol: string): KnownToken[] {
  const wanted = normalSymbol(symbol);
  const matches = tokens.filter((token) => normalSymbol(token.symbol) === wanted);
  return [...new Map(matches.map((token) => [normalToken(token.address), token])).values()];
}

function tokensOf(posts: Iterable<TokenFacts>): Iterable<KnownToken> {
  const tokens = new Map<string, KnownToken>();
  for (const post of posts) {
    const token = knownToken(post);
    if (token) tokens.set(`${token.address} ${token.symbol}`, token);
  }
  return tokens.values();
}

const tokenOf = (post: Sent): KnownToken | undefined =>
  knownToken({
    symbol: textOf(post['tokenSymbol']) ?? null,
    token: textOf(post['tokenAddress']) ?? null,
    network: textOf(post['tokenNetwork']) ?? null,
  });

const knownToken = ({ symbol, token, network }: TokenFacts): KnownToken | undefined =>
  symbol && token ? { symbol, address: token, network: network ?? '' } : undefined;

/**
 * Failures are ignored: a token that is not saved is unknown to a later run, which says how to save
 * it.
 */
function save(context: Context, tokens: readonly KnownToken[]): void {
  const { cache } = context.settings.folders;
  if (cache !== undefined) quietly(() => noteTokens(cache, tokens));
}
