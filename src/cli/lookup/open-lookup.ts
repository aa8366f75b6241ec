import { CachedLookup, type LookupPlan, lookupCall } from '../../core/lookup/cached-lookup.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { openAnswers } from '../run/answers.ts';
import type { Context } from '../run/context.ts';
import { notSent, type Planned } from '../run/plan.ts';

export const openCachedLookup = async (
  context: Context,
  {
    noCache = false,
    maxAge,
  }: { readonly noCache?: boolean; readonly maxAge?: number | undefined } = {},
): Promise<CachedLookup> =>
  new CachedLookup(
    context.service,
    context.terminal.io.clock,
    noCache ? undefined : await openAnswers(context),
    maxAge ?? context.settings.maxAge,
  );

/** The calls of a lookup for a plan; if the cache has the answer, the call that is not sent. */
export const userCalls = (subject: Subject, { calls, answer }: LookupPlan): readonly Planned[] =>
  answer ? [notSent(lookupCall(subject))] : calls;
