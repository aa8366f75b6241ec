import { group } from '../../base/units.ts';
import type { RenamedUser, ReusedHandle } from '../../contract/ports/book.ts';
import { CachedLookup } from '../../core/lookup/cached-lookup.ts';
import type { WalletWay } from '../../core/lookup/wallet-owner.ts';
import { timeText } from '../../output/format/time.ts';
import { openAnswers, openBook } from '../run/answers.ts';
import type { Context } from '../run/context.ts';

interface LookupFlags {
  readonly noCache?: boolean;
  readonly maxAge?: number | undefined;
  /** How the owner of a wallet is found; the cheapest way by default. */
  readonly way?: WalletWay | undefined;
  /** How many of the people who were seen with a wallet are read again at most; all by default. */
  readonly mostOwners?: number;
}

export async function openCachedLookup(
  context: Context,
  { noCache = false, maxAge, way, mostOwners }: LookupFlags = {},
): Promise<CachedLookup> {
  const { terminal, service, settings } = context;
  return new CachedLookup({
    client: service,
    clock: terminal.io.clock,
    book: noCache ? undefined : await openBook(context),
    answers: noCache ? undefined : await openAnswers(context),
    maxAgeMs: maxAge ?? settings.maxAge,
    way,
    mostOwners,
    onShared: (wallets) => terminal.notice(sharedText(wallets)),
    onReused: (reused) => noticeEach(context, reused.map(reusedText)),
    onRenamed: (renamed) =>
      noticeEach(
        context,
        renamed.map((user) => renamedText(user, settings.utc)),
      ),
  });
}

function sharedText(wallets: readonly string[]): string {
  const count = wallets.length;
  const what = count === 1 ? `${wallets[0]} belongs` : `${group(count)} wallets belong`;
  return `${what} to several users who were read before; "trdr whois --direct" asks for the service's choice`;
}

/** A long list of handles may have many that are old. */
const NOTICED = 10;

function noticeEach({ terminal }: Context, texts: readonly string[]): void {
  for (const text of texts.slice(0, NOTICED)) terminal.notice(text);
  const rest = texts.length - NOTICED;
  if (rest > 0) terminal.notice(`the same holds for ${group(rest)} more handles`);
}

function reusedText({ handle, before, seen }: ReusedHandle): string {
  const date = new Date(seen).toISOString().slice(0, 10);
  return `@${handle} now belongs to another user: until ${date}, it belonged to ${before}`;
}

const renamedText = ({ handle, now, since }: RenamedUser, utc: boolean): string =>
  `${handle} is @${now} since ${timeText(since, utc).slice(0, 'YYYY-MM-DD hh:mm'.length)} (same user id)`;
