import { Failure, usageError } from '../../base/failure.ts';
import { countText } from '../../base/units.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { User } from '../../contract/records/user.ts';
import type { LookupPlan } from '../../core/lookup/cached-lookup.ts';
import { type LookupAnswer, NOT_ASKED } from '../../core/lookup/lookup.ts';
import { ordered } from '../../core/lookup/ordered.ts';
import { readSubject, type Subject, type SubjectType } from '../../core/lookup/subject.ts';
import { normalName, normalToken } from '../../core/pages/filter.ts';
import type { Planned } from '../../core/spend/plan.ts';
import { subjectSource } from '../../input/subject-list.ts';
import { excluding, type GivenFlags, list, value } from '../args/option.ts';
import { addressOf, distinctSubjects } from '../args/subjects.ts';
import { file, text } from '../args/values.ts';
import type { Context } from '../run/context.ts';
import { openCachedLookup, userCalls } from './open-lookup.ts';

/** The calls of a command that reads theses, and looks up their authors for that. */
export const thesisCalls: readonly EndpointId[] = [
  'thesis.all',
  'thesis.token',
  'thesis.user',
  'thesis.userToken',
  'user.handle',
  'user.id',
  'launchpad.user',
];

/** The calls of a command that reads callouts, and looks up their authors for that. */
export const calloutCalls: readonly EndpointId[] = [
  'launchpad.callouts',
  'launchpad.callouts.coin',
  'launchpad.callouts.wallet',
  'user.handle',
  'user.id',
];

/** The flags that name authors. */
export const authorOptions = {
  user: list(
    '--author, --user',
    'only posts by this author (handle, wallet or id)',
    text('user', 'handle'),
  ),
  users: value('--users', 'only posts by the authors in FILE (- for stdin)', file),
  column: value('--column', 'the column or field of --users with the authors', text('name')),
};

/** The authors that the flags name, each once. */
export async function authorsOf(
  { user, users, column }: GivenFlags<typeof authorOptions>,
  { terminal, settings }: Context,
  needsKey = true,
): Promise<readonly Subject[]> {
  if (user.length === 0 && users === undefined && column === undefined) return [];
  // A list in one flag is refused here, in the words for a flag.
  for (const each of user) if (/[,;]/.test(each)) await readSubject(each);
  const source = subjectSource(user, { file: users, column }, 'author');
  const key = needsKey ? await settings.key.get() : undefined;
  const subjects = await distinctSubjects(source, terminal, key, undefined);
  if (subjects.length > 0) return subjects;
  throw usageError(`--users: ${users} has no subjects`, 'write one handle, wallet or id per line');
}

/** What of an author a feed is selected by. */
interface Selector {
  /** The type of a subject that needs no lookup. */
  readonly type: SubjectType;
  readonly what: string;
  /** Values of which this is equal are the same. */
  readonly normal: (value: string) => string;
  valuesOf(user: Sent): readonly string[];
}

const present = (values: readonly (string | null | undefined)[]): string[] =>
  values.flatMap((each) => each || []);

export const byId: Selector = {
  type: 'id',
  what: 'user id',
  normal: normalName,
  valuesOf: (user) => present([known(User, user).id]),
};

const byWallet: Selector = {
  type: 'wallet',
  what: 'wallet',
  normal: normalToken,
  valuesOf(user) {
    const { solanaAddress, evmAddress } = known(User, user);
    return present([solanaAddress, evmAddress]);
  },
};

/** How the ids or wallets of authors will be found. */
export interface AuthorLookup {
  readonly calls: readonly Planned[];
  /**
   * The values for the calls of a plan. A placeholder replaces an unknown one: the price is the
   * same for each.
   */
  readonly planned: readonly string[];
  /**
   * Finds the values as planned, in a fixed order; says who was not found, and throws if nobody
   * was.
   */
  find(): Promise<readonly string[]>;
  /** The same for 0 CU, by what was read before. */
  kept(): readonly string[];
}

const UNKNOWN_ID = '00000000-0000-0000-0000-000000000000';

export async function planAuthorLookup(
  subjects: readonly Subject[],
  selector: Selector,
  context: Context,
): Promise<AuthorLookup> {
  const direct = subjects.filter(({ type }) => type === selector.type);
  const others = subjects.filter(({ type }) => type !== selector.type);
  const given = direct.map(({ normal }) => normal).sort();
  if (others.length === 0)
    return { calls: [], planned: given, find: async () => given, kept: () => given };
  // The dear call for a wallet is made by "trdr whois" alone, whose price is that of one subject.
  const users = await openCachedLookup(context, { way: 'cheap' });
  const plans = users.planAll(others);
  const { signal } = context.terminal;
  const ask = async (plan: LookupPlan): Promise<Found> => ({
    subject: plan.subject,
    answer: await users.answer(plan.subject, signal, plan),
  });
  const valuesOf = ({ answer }: Partial<Found>) =>
    answer?.found ? selector.valuesOf(answer.record) : [];
  /** The values of those who were found. */
  const valuesIn = (found: readonly Found[]) => {
    const missing = found.filter((each) => valuesOf(each).length === 0);
    reportMissing(missing, subjects.length, selector, context);
    return distinct([...given, ...found.flatMap(valuesOf)], selector);
  };
  return {
    calls: plans.flatMap(userCalls),
    planned: [
      ...given,
      ...plans.flatMap((plan) => (plan.answer?.found ? valuesOf(plan) : [UNKNOWN_ID])),
    ],
    async find() {
      const found: Found[] = [];
      for await (const each of ordered(plans, ask, { signal })) found.push(each);
      return valuesIn(found);
    },
    kept: () => valuesIn(plans.map(({ subject, answer = notKept }) => ({ subject, answer }))),
  };
}

interface Found {
  readonly subject: Subject;
  readonly answer: LookupAnswer;
}

const notKept: LookupAnswer = {
  found: null,
  failure: new Failure('missing', 'not read before', { code: NOT_ASKED }),
};

const distinct = (values: readonly string[], { normal }: Pick<Selector, 'normal'> = byWallet) =>
  [...new Map(values.map((each) => [normal(each), each])).values()].sort();

/** One line for those who were not found. Nobody at all is a failure, and so is a failed lookup. */
function reportMissing(
  missing: readonly Found[],
  asked: number,
  { what }: Selector,
  { terminal }: Context,
): void {
  for (const { answer } of missing)
    if (answer.found === null && answer.failure.code !== NOT_ASKED) throw answer.failure;
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.map(({ subject }) => subject.text).join(', ');
  if (missing.length < asked) {
    terminal.notice(`not found: ${names} (${missing.length} of ${countText(asked, 'author')})`);
    return;
  }
  if (first.answer.found && asked === 1)
    throw new Failure('answer', `the record of ${names} has no ${what}`, {
      code: 'BAD_ANSWER',
      hint: `pass a ${what} instead of the handle`,
    });
  const isSearched = missing.every(({ answer }) => answer.found === false);
  throw new Failure('missing', `no user found for ${names}`, {
    code: first.answer.found === false ? first.answer.code : NOT_ASKED,
    hint: isSearched
      ? 'check the spelling of the handle, or pass the user id'
      : `look it up once with "trdr whois", which may cost 30,000 CU, and is then kept`,
  });
}

export const calloutScopeOptions = {
  coin: list('--coin', 'only this coin', text('mint')),
  wallet: excluding(list('--wallet', 'only callouts by this wallet', text('address')), '--coin'),
  ...authorOptions,
};

/** The coins and wallets that the flags name. Authors are looked up for their wallets. */
export async function planCallouts(
  { coin, wallet, ...authors }: GivenFlags<typeof calloutScopeOptions>,
  context: Context,
  needsKey = true,
) {
  const subjects = await authorsOf(authors, context, needsKey);
  if (coin.length > 0 && subjects.length > 0)
    throw usageError('--coin cannot be combined with --user or --users', 'omit one of them');
  const coins = distinct(await Promise.all(coin.map((each) => addressOf('--coin', each))));
  const own = await Promise.all(wallet.map((each) => addressOf('--wallet', each)));
  const people = await planAuthorLookup(subjects, byWallet, context);
  return {
    coins,
    calls: people.calls,
    planned: distinct([...own, ...people.planned]),
    wallets: async () => distinct([...own, ...(await people.find())]),
    keptWallets: () => distinct([...own, ...people.kept()]),
  };
}
