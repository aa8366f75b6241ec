import { Failure } from '../../base/failure.ts';
import { isWithin } from '../../contract/answer-age.ts';
import { normalHandle } from '../../contract/handles.ts';
import { cu } from '../../contract/limits.ts';
import type { KnownName, Name, Person } from '../../contract/ports/book.ts';
import { known } from '../../contract/read-record.ts';
import { LaunchpadUser } from '../../contract/records/launchpad.ts';
import type { PlannedEndpoint } from '../spend/plan.ts';
import { bears, possibleOwners } from './book-answers.ts';
import type { HeldAnswer, LookupAnswer } from './lookup.ts';
import { type AskedName, callOf } from './lookup-call.ts';
import { isUserId, readSubject } from './subject.ts';

/** The cheapest way first, only the cheap ways, or only the service's own lookup of the wallet. */
export type WalletWay = 'cheapest' | 'cheap' | 'direct';

/** What finding the owner of a wallet needs from outside. */
export interface OwnerSources {
  readonly now: () => number;
  /** The fresh answer to a name that the book can give without a call. */
  readonly kept: (name: Name) => HeldAnswer | undefined;
  /** Looks a name up at the service; the book keeps the answer. */
  readonly ask: (name: AskedName) => Promise<LookupAnswer>;
  /** The launchpad account of a wallet, cached like other answers. */
  readonly account: (wallet: AskedName) => Promise<LookupAnswer>;
  /** Remembers that the launchpad name of a wallet led to nobody who has it. */
  readonly noteTried: (wallet: string, name: string, at: number) => Promise<void>;
}

/** The X name, and the user name. */
export const NAMES_OF_ACCOUNT = 2;

/** A launchpad name that led to somebody else is tried again after this time. */
const TRIED_MS = 3_600_000;

/** The calls that may be needed to find the owner of a wallet, in their order. */
export function planOwner(
  wallet: AskedName,
  entry: KnownName | undefined,
  /** The launchpad account, if it is cached. */
  account: HeldAnswer | undefined,
  way: WalletWay,
): readonly PlannedEndpoint[] {
  const owners = possibleOwners(wallet.normal, entry).flatMap((person) => nameOf(person) ?? []);
  const isKnown = owners.length > 0;
  const calls: PlannedEndpoint[] = owners.map((name, at) => ({
    ...callOf(name),
    isSure: at === 0,
  }));
  if (account === undefined) {
    const ask = { params: { wallet: wallet.value } };
    calls.push({ id: 'launchpad.user', ask, isSure: !isKnown });
  }
  const tries = nameCalls(wallet, account);
  // An unknown wallet costs at least one lookup by a name, or else the dear call, which costs more.
  const [first, ...others] = tries;
  const isAtLeastOne = !isKnown && way === 'cheapest';
  if (first) calls.push({ ...first, ...(isAtLeastOne && { least: cu.lookup }) }, ...others);
  if (way === 'cheapest') calls.push({ ...callOf(wallet), isSure: !isKnown && tries.length === 0 });
  return calls;
}

/** The lookups by the names of a launchpad account, any of which may turn out not to be needed. */
function nameCalls(wallet: AskedName, account: HeldAnswer | undefined): readonly PlannedEndpoint[] {
  if (account !== undefined)
    return namesOfAccount(account).map((name) => ({ ...callOf(name), isSure: false }));
  // Before the account is read, its names are not known, so the wallet takes their place.
  const call = callOf({ ...wallet, type: 'handle' });
  const standsFor = 'the two names of its launchpad account';
  return [{ ...call, isSure: false, times: NAMES_OF_ACCOUNT, standsFor }];
}

/**
 * Who is behind a wallet that the book cannot answer freshly. The service sells the way from a
 * person to their wallets 300 times cheaper than the way back, so people whom the book or the
 * launchpad suggests are read first, and accepted only if the service's own record has exactly this
 * wallet. Undefined if the cheap ways end without an answer.
 */
export async function findOwner(
  wallet: AskedName,
  entry: KnownName | undefined,
  sources: OwnerSources,
): Promise<LookupAnswer | undefined> {
  const known = await confirmKnown(wallet, entry, sources);
  return known ?? (await followLaunchpad(wallet, entry, sources));
}

/** Reads the people again who were seen with the wallet; the link may have ended since. */
async function confirmKnown(
  wallet: AskedName,
  entry: KnownName | undefined,
  { kept, ask }: OwnerSources,
): Promise<LookupAnswer | undefined> {
  for (const person of possibleOwners(wallet.normal, entry)) {
    const name = nameOf(person);
    const answer = name && (kept(name) ?? (await ask(name)));
    if (answer?.found === null) return answer;
    if (answer?.found && bears(answer.record, wallet)) return { ...answer, from: 'book' };
  }
  return undefined;
}

/**
 * A person is named by id, which never changes, or by handle while only trading numbers were read.
 */
function nameOf({ id, identity }: Person): AskedName | undefined {
  if (id !== undefined) {
    return isUserId(id) ? { type: 'id', value: id, normal: id.toLowerCase() } : undefined;
  }
  const { handle } = identity;
  if (typeof handle !== 'string') return undefined;
  return { type: 'handle', value: handle, normal: normalHandle(handle) };
}

/**
 * Many traders use one name everywhere. A false name costs one lookup, and is not tried again for
 * an hour.
 */
async function followLaunchpad(
  wallet: AskedName,
  entry: KnownName | undefined,
  { now, kept, ask, account, noteTried }: OwnerSources,
): Promise<LookupAnswer | undefined> {
  const held = await account(wallet);
  if (held.found === null) return held;
  for (const name of namesOfAccount(held)) {
    if (wasTried(entry, name, now())) continue;
    const answer = kept(name) ?? (await ask(name));
    if (answer.found === null && !isNoHandle(answer.failure)) return answer;
    if (answer.found && bears(answer.record, wallet)) return { ...answer, from: 'launchpad' };
    await noteTried(wallet.normal, name.normal, now());
  }
  return undefined;
}

/** The launchpad has other names than the platform, which rejects those that cannot be its own. */
const isNoHandle = ({ status }: Failure): boolean => status === 400;

function wasTried(entry: KnownName | undefined, { normal }: Name, now: number): boolean {
  const tried = entry?.tried?.find(({ name }) => name === normal);
  return tried !== undefined && isWithin(tried.at, TRIED_MS, now);
}

/** The X name and the user name of a launchpad account, as far as they could be handles. */
function namesOfAccount(account: HeldAnswer): readonly AskedName[] {
  if (!account.found) return [];
  const { xUsername, username } = known(LaunchpadUser, account.record);
  const names = [xUsername, username].flatMap((text) => (text && handleIn(text)) || []);
  return [...new Map(names.map((name) => [name.normal, name])).values()];
}

function handleIn(text: string): AskedName | undefined {
  try {
    const subject = readSubject(text, 'handle');
    if (subject instanceof Promise) return undefined;
    return { type: 'handle', value: subject.value, normal: subject.normal };
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
