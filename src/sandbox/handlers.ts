import { distinctHandles, normalHandle } from '../contract/handles.ts';
import { THESIS_LIMIT_DEFAULT } from '../contract/limits.ts';
import type { Me } from '../contract/records/account.ts';
import type { Pnl } from '../contract/records/pnl.ts';
import { holdsWallet, type User } from '../contract/records/user.ts';
import { type Handlers, reject, reply } from './http/endpoint.ts';
import { type Key, usageOf } from './keys.ts';
import { handleProblem, resolveHandler } from './resolve.ts';
import type { SandboxState } from './state.ts';
import { isEvmAddress, isSolanaAddress, normalAddress } from './world/address.ts';

/** A handler for every endpoint. A missing handler is a compile error. */
export const handlers: Handlers = {
  'user.handle'(sandbox, { params: { handle } }, key) {
    const problem = handleProblem(handle);
    if (problem) return reject('VALIDATION_ERROR', problem);
    return shownUser(sandbox, sandbox.world.user(normalHandle(handle)), key);
  },
  'user.wallet'(sandbox, { params: { address } }, key) {
    const problem = addressProblem(address);
    if (problem) return reject('VALIDATION_ERROR', problem);
    return shownUser(sandbox, sandbox.world.userByWallet(address), key);
  },
  'user.id': (sandbox, { params }, key) => shownUser(sandbox, sandbox.world.userById(params.id), key),
  'user.resolve': resolveHandler,
  'user.pnl'(sandbox, { params: { handle } }, key) {
    const problem = handleProblem(handle);
    if (problem) return reject('VALIDATION_ERROR', problem);
    const pnl = sandbox.world.pnl(normalHandle(handle));
    if (!pnl) return reject('NOT_OBSERVED');
    return isHidden(sandbox, pnl, key) ? reject('FORBIDDEN') : reply(pnl);
  },
  'users.pnl'(sandbox, { body }, key) {
    const problem = body.handles.map(handleProblem).find((each) => each !== null);
    if (problem) return reject('VALIDATION_ERROR', problem);
    const found = distinctHandles(body.handles)
      .map(normalHandle)
      .map((handle) => sandbox.world.pnl(handle) ?? handle);
    const missing = found.filter((each) => typeof each === 'string');
    const entries = found.filter((each) => typeof each !== 'string');
    if (entries.some((pnl) => isHidden(sandbox, pnl, key))) return reject('FORBIDDEN');
    return reply({ count: entries.length, missing, entries });
  },
  'thesis.all'(sandbox, { query }) {
    const page = thesisPage(sandbox, {}, query);
    return page ? reply(page) : unknownCursor('thesis');
  },
  'thesis.token'(sandbox, { params, query }) {
    const tokenAddress = normalAddress(params.tokenAddress);
    const page = thesisPage(sandbox, { tokenAddress }, query);
    if (!page) return unknownCursor('thesis');
    // For each of these fields, use the first item that has it, because not every item has all fields.
    const tokenNetwork = page.items.find((item) => item.tokenNetwork)?.tokenNetwork ?? null;
    const symbol = page.items.find((item) => item.tokenSymbol)?.tokenSymbol ?? null;
    return reply({ tokenAddress, tokenNetwork, symbol, ...page });
  },
  'thesis.user': (sandbox, { params, query }) => userPage(sandbox, params.id, null, query),
  'thesis.userToken': (sandbox, { params, query }) =>
    userPage(sandbox, params.id, normalAddress(params.tokenAddress), query),
  'launchpad.user'({ world }, { params }) {
    const account = world.account(params.wallet);
    return account ? reply(account) : reject('NOT_OBSERVED');
  },
  'launchpad.callouts': (sandbox, { query }) => calloutPage(sandbox, {}, query.before),
  'launchpad.callouts.coin': (sandbox, { params, query }) =>
    calloutPage(sandbox, { coin: params.mint }, query.before),
  'launchpad.callouts.wallet': (sandbox, { params, query }) =>
    calloutPage(sandbox, { wallet: params.wallet }, query.before),
  'launchpad.board'({ world, clock }, { query }) {
    const at = query.at === undefined ? clock.now() : parseInstant(query.at);
    if (at === null) return reject('VALIDATION_ERROR', 'at: must be epoch milliseconds or an ISO time.');
    return reply(world.board(query.period ?? 'weekly', Math.min(at, clock.now())));
  },
  me: ({ clock }, _, key) => reply(accountOf(key, clock.now())),
};

function shownUser({ world }: SandboxState, user: User | undefined, { isFree }: Key) {
  if (!user) return reject('NOT_OBSERVED');
  return isFree && holdsWallet(user) && !world.isSample(user.id) ? reject('FORBIDDEN') : reply(user);
}

/** Whether the record contains a wallet that the key may not see. */
function isHidden({ world }: SandboxState, { handle, wallet, evmWallet }: Pnl, { isFree }: Key): boolean {
  if (!isFree || (wallet === null && evmWallet === null)) return false;
  return !world.isSample(world.user(handle)?.id ?? '');
}

function addressProblem(address: string): string | null {
  if (/^0x/i.test(address))
    return isEvmAddress(address) ? null : 'address: an EVM address has 40 hex digits after 0x.';
  if (isSolanaAddress(address)) return null;
  return 'address: must be a Solana address (base58, 32 bytes) or an EVM address (0x and 40 hex digits).';
}

interface PageQuery {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

function userPage(sandbox: SandboxState, id: string, tokenAddress: string | null, query: PageQuery) {
  const userId = id.toLowerCase();
  const page = thesisPage(sandbox, { userId, tokenAddress: tokenAddress ?? undefined }, query);
  return page ? reply({ userId, tokenAddress, ...page }) : unknownCursor('thesis');
}

function thesisPage(
  { world, clock }: SandboxState,
  filter: Parameters<typeof world.theses>[0],
  { before, limit = THESIS_LIMIT_DEFAULT }: PageQuery,
) {
  const slice = world.theses(filter, before, limit, clock.now());
  if (!slice) return null;
  const { items, hasMore } = slice;
  const updatedAt = items.find((item) => item.platformCreatedAt !== null)?.platformCreatedAt ?? null;
  const nextBefore = hasMore ? (items.at(-1)?.id ?? null) : null;
  return { count: items.length, hasMore, nextBefore, updatedAt, items };
}

function calloutPage(
  { world, clock }: SandboxState,
  filter: Parameters<typeof world.callouts>[0],
  before: string | undefined,
) {
  const slice = world.callouts(filter, before, clock.now());
  if (!slice) return unknownCursor('callout');
  const { items, hasMore } = slice;
  const nextBefore = hasMore ? (items.at(-1)?.id ?? null) : null;
  return reply({ count: items.length, hasMore, nextBefore, items });
}

const unknownCursor = (post: string) => reject('VALIDATION_ERROR', `before: unknown ${post} id.`);

function parseInstant(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?)?$/i.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

// The service description shows only `usage`, `entitlement` and the rate limit. All other members of this
// record are assumptions.
function accountOf(key: Key, now: number): Me {
  const { id, mode, plan, title, scopes, ratePerMinute, unmetered, monthlyUnits } = key;
  return {
    account: { id: `account-of-${id}`, name: 'Sandbox', mode },
    plan: { id: plan, name: title },
    scopes: [...scopes],
    ratePerMinute,
    entitlement: { unmetered, monthlyUnits },
    usage: usageOf(key, now),
  };
}
