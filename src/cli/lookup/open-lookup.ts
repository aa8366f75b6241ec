import { CachedLookup, type LookupPlan, lookupCall } from '../../core/lookup/cached-lookup.ts';
import type { WalletWay } from '../../core/lookup/wallet-owner.ts';
import { notSent, type Planned } from '../../core/spend/plan.ts';
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
    onReused({ handle, before, seen }) {
      const date = new Date(seen).toISOString().slice(0, 10);
      terminal.notice(
        `@${handle} now belongs to another user: until ${date}, it belonged to ${before}`,
      );
    },
  });
}

/** The calls of a lookup for a plan; if the cache has the answer, the call that is not sent. */
export const userCalls = ({ subject, calls, answer }: LookupPlan): readonly Planned[] =>
  answer ? [notSent(lookupCall(subject))] : calls;
