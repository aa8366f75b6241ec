import { Failure, usageError } from '../../base/failure.ts';
import { known } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { LookupAnswer } from '../../core/lookup/lookup.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import type { CalloutScope } from '../../core/pages/feeds.ts';
import { excluding, type GivenFlags, value } from '../args/option.ts';
import { addressOf, noticeLinks } from '../args/subjects.ts';
import { text } from '../args/values.ts';
import type { Context } from '../run/context.ts';
import type { Planned } from '../run/plan.ts';
import type { Terminal } from '../run/terminal.ts';
import { openCachedLookup, userCalls } from './open-lookup.ts';

/** Parses the author given with --user: a user id, or a handle that must be looked up. */
export async function authorOf(
  given: string,
  terminal: Pick<Terminal, 'notice'>,
): Promise<Subject> {
  const subject = await readSubject(given);
  noticeLinks([subject], terminal);
  if (subject.type === 'wallet') {
    throw usageError(
      '--user: expected a handle or a user id, got a wallet',
      'pass a handle or a user id; "trdr whois" shows both for a wallet',
    );
  }
  return subject;
}

/** How the user id of an author will be found, for feeds that the service selects by it. */
export interface AuthorPlan {
  readonly calls: readonly Planned[];
  /** The user id for the calls of a plan. A placeholder replaces an unknown one: the price is the same for every id. */
  readonly plannedId: string | undefined;
  /** Finds the user id as planned; undefined without an author. */
  userId(): Promise<string | undefined>;
}

const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';

export async function planAuthor(
  author: Subject | undefined,
  context: Context,
): Promise<AuthorPlan> {
  if (author?.type !== 'handle') {
    const id = author?.value;
    return { calls: [], plannedId: id, userId: async () => id };
  }
  const users = await openCachedLookup(context);
  const plan = users.plan(author);
  return {
    calls: userCalls(plan),
    plannedId: plan.answer?.found ? known(User, plan.answer.record).id : UNKNOWN_ID,
    async userId() {
      return idIn(author, await users.answer(author, context.terminal.signal, plan));
    },
  };
}

/** The user id in the answer for an author. Throws if there is none. */
function idIn(author: Subject, answer: LookupAnswer): string {
  if (answer.found === null) throw answer.failure;
  if (answer.found) {
    const { id } = known(User, answer.record);
    if (id) return id;
    throw new Failure('answer', `the record of ${author.text} has no user id`, {
      code: 'BAD_ANSWER',
      hint: 'pass a user id instead of the handle',
    });
  }
  throw new Failure('missing', `no user found for ${author.text}`, {
    code: answer.code,
    hint: 'check the spelling of the handle, or pass the user id',
  });
}

export const calloutScopeOptions = {
  coin: value('--coin', 'only this coin', text('mint')),
  wallet: excluding(value('--wallet', 'only callouts by this wallet', text('address')), '--coin'),
};

export const calloutScopeOf = async ({
  coin,
  wallet,
}: GivenFlags<typeof calloutScopeOptions>): Promise<CalloutScope> => ({
  ...(coin !== undefined && { mint: await addressOf('--coin', coin) }),
  ...(wallet !== undefined && { wallet: await addressOf('--wallet', wallet) }),
});
