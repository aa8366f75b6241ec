import { Failure, usageError } from '../../base/failure.ts';
import { known } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import { readSubject, type Subject } from '../../core/lookup/subject.ts';
import type { CalloutScope } from '../../core/pages/feeds.ts';
import { excluding, type GivenFlags, value } from '../args/option.ts';
import { addressOf, noticeLinks } from '../args/subjects.ts';
import { text } from '../args/values.ts';
import type { Context } from '../run/context.ts';
import type { Planned } from '../run/planned.ts';
import type { Terminal } from '../run/terminal.ts';
import { openCachedLookup } from './open-lookup.ts';

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

/** For a dry run. A placeholder replaces an unknown user id: the price is the same for every id. */
export function plannedAuthor(author: Subject | undefined): {
  readonly lookup: Planned[];
  readonly userId: string | undefined;
} {
  if (author?.type !== 'handle') return { lookup: [], userId: author?.value };
  const lookup: Planned = { id: 'user.handle', ask: { params: { handle: author.value } } };
  return { lookup: [lookup], userId: '00000000-0000-0000-0000-000000000000' };
}

export async function userIdOf(subject: Subject, context: Context): Promise<string> {
  if (subject.type === 'id') return subject.value;
  const answer = await (await openCachedLookup(context)).answer(subject, context.terminal.signal);
  if (answer.found === null) throw answer.failure;
  if (answer.found) {
    const { id } = known(User, answer.record);
    if (id) return id;
    throw new Failure('answer', `the record of ${subject.text} has no user id`, {
      code: 'BAD_ANSWER',
      hint: 'pass a user id instead of the handle',
    });
  }
  throw new Failure('missing', `no user found for ${subject.text}`, {
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
