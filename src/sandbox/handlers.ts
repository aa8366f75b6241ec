import { base58 } from '@scure/base';
import { RESOLVE_HEADER } from '../contract/endpoints.ts';
import { distinctHandles, servedHandle } from '../contract/handles.ts';
import { CALLOUT_PAGE, cu, HANDLE_MAX, THESIS_LIMIT_DEFAULT } from '../contract/limits.ts';
import type { Me } from '../contract/records/account.ts';
import type { Callout } from '../contract/records/launchpad.ts';
import type { Pnl } from '../contract/records/pnl.ts';
import type { Thesis } from '../contract/records/thesis.ts';
import {
  holdsWallet,
  type Pending,
  type PendingReason,
  type User,
} from '../contract/records/user.ts';
import type { Handlers } from './http/endpoint.ts';
import { ApiError } from './http/response.ts';
import { type Key, shortageOf, usageOf } from './keys.ts';
import type { SandboxState } from './state.ts';
import { normalAddress } from './world/lookup-keys.ts';

/** A handler for every endpoint. A missing handler is a compile error. */
export const handlers: Handlers = {
  'user.handle'(sandbox, { params: { handle } }, key) {
    checkHandle(handle);
    return shownUser(sandbox, sandbox.world.user(servedHandle(handle)), key);
  },
  'user.wallet'(sandbox, { params: { address } }, key) {
    checkAddress(address);
    return shownUser(sandbox, sandbox.world.userByWallet(address), key);
  },
  'user.id': (sandbox, { params }, key) =>
    shownUser(sandbox, sandbox.world.userById(params.id), key),
  'user.resolve': (sandbox, { params }, key) => resolve(sandbox, params.handle, key),
  'user.pnl'(sandbox, { params: { handle } }, key) {
    checkHandle(handle);
    const pnl = sandbox.world.pnl(servedHandle(handle));
    if (!pnl) throw new ApiError('NOT_OBSERVED');
    return reply(shownNumbers(sandbox, pnl, key));
  },
  'users.pnl'(sandbox, { body }, key) {
    body.handles.forEach(checkHandle);
    const answers = distinctHandles(body.handles)
      .map(servedHandle)
      .map((handle) => sandbox.world.pnl(handle) ?? handle);
    const missing = answers.filter((answer) => typeof answer === 'string');
    const entries = answers.flatMap((answer) =>
      typeof answer === 'string' ? [] : shownNumbers(sandbox, answer, key),
    );
    return reply({ count: entries.length, missing, entries });
  },
  'thesis.all': (sandbox, { query }) => reply(thesisPage(sandbox, query)),
  'thesis.token'(sandbox, { params, query }) {
    const tokenAddress = normalAddress(params.tokenAddress);
    const page = thesisPage(sandbox, query, isAbout(tokenAddress));
    // For each of these fields, use the first item that has it, because not every item has all
    // fields.
    const tokenNetwork = page.items.find((item) => item.tokenNetwork)?.tokenNetwork ?? null;
    const symbol = page.items.find((item) => item.tokenSymbol)?.tokenSymbol ?? null;
    return reply({ tokenAddress, tokenNetwork, symbol, ...page });
  },
  'thesis.user': (sandbox, { params, query }) => userPage(sandbox, params.id, null, query),
  'thesis.userToken': (sandbox, { params, query }) =>
    userPage(sandbox, params.id, normalAddress(params.tokenAddress), query),
  'launchpad.user'({ world }, { params }) {
    const account = world.account(params.wallet);
    if (!account) throw new ApiError('NOT_OBSERVED');
    return reply(account);
  },
  'launchpad.callouts': (sandbox, { query }) => calloutPage(sandbox, query),
  'launchpad.callouts.coin': (sandbox, { params: { mint }, query }) =>
    calloutPage(sandbox, query, ({ coinMint }) => coinMint === mint),
  'launchpad.callouts.wallet': (sandbox, { params: { wallet }, query }) =>
    calloutPage(sandbox, query, (callout) => callout.wallet === wallet),
  'launchpad.board'({ world, clock }, { query }) {
    const at = query.at === undefined ? clock.now() : parseInstant(query.at);
    if (at === null) throw invalid('at: must be epoch milliseconds or an ISO time.');
    return reply(world.board(query.period ?? 'weekly', Math.min(at, clock.now())));
  },
  me: ({ clock }, _, key) => reply(accountOf(key, clock.now())),
};

const reply = <R>(record: R) => ({ status: 200 as const, record });

const invalid = (problem: string) => new ApiError('VALIDATION_ERROR', problem);

function shownUser({ world }: SandboxState, user: User | undefined, { isFree }: Key) {
  if (!user) throw new ApiError('NOT_OBSERVED');
  if (isFree && holdsWallet(user) && !world.isSample(user.id)) throw new ApiError('FORBIDDEN');
  return reply(user);
}

function shownNumbers({ world }: SandboxState, pnl: Pnl, { isFree }: Key): Pnl {
  const hasWallet = pnl.wallet !== null || pnl.evmWallet !== null;
  if (isFree && hasWallet && !world.isSample(world.user(pnl.handle)?.id ?? ''))
    throw new ApiError('FORBIDDEN');
  return pnl;
}

function checkHandle(text: string): void {
  if (text.length > HANDLE_MAX) throw invalid(`handle: has more than ${HANDLE_MAX} characters.`);
  if (!/^@?[\w.-]+$/.test(text))
    throw invalid('handle: must consist of letters, digits, dots, dashes and underscores.');
}

function checkAddress(address: string): void {
  if (address.startsWith('0x')) {
    if (/^0x[0-9a-f]{40}$/i.test(address)) return;
    throw invalid('address: an EVM address has 40 hex digits after 0x.');
  }
  if (/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address) && base58.decode(address).length === 32) return;
  throw invalid(
    'address: must be a Solana address (base58, 32 bytes) or an EVM address (0x and 40 hex digits).',
  );
}

interface PageQuery {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

const isAbout = (token: string) => (thesis: Thesis) =>
  normalAddress(thesis.tokenAddress ?? '') === token;

function userPage(
  sandbox: SandboxState,
  userId: string,
  tokenAddress: string | null,
  query: PageQuery,
) {
  const isAboutToken = tokenAddress === null ? () => true : isAbout(tokenAddress);
  const page = thesisPage(
    sandbox,
    query,
    (thesis) => thesis.authorId === userId && isAboutToken(thesis),
  );
  return reply({ userId, tokenAddress, ...page });
}

function thesisPage(
  { world, clock }: SandboxState,
  { before, limit = THESIS_LIMIT_DEFAULT }: PageQuery,
  matches?: (thesis: Thesis) => boolean,
) {
  const slice = world.theses().slice(before, limit, clock.now(), matches);
  const updatedAt =
    slice?.items.find((item) => item.platformCreatedAt !== null)?.platformCreatedAt ?? null;
  return { ...pageOf('thesis', slice), updatedAt };
}

function calloutPage(
  { world, clock }: SandboxState,
  { before }: PageQuery,
  matches?: (callout: Callout) => boolean,
) {
  return reply(
    pageOf('callout', world.callouts().slice(before, CALLOUT_PAGE, clock.now(), matches)),
  );
}

function pageOf<T extends { readonly id: string }>(
  post: string,
  slice: { items: T[]; hasMore: boolean } | null,
) {
  if (!slice) throw invalid(`before: unknown ${post} id.`);
  const { items, hasMore } = slice;
  return {
    count: items.length,
    hasMore,
    nextBefore: hasMore ? (items.at(-1)?.id ?? null) : null,
    items,
  };
}

function parseInstant(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}

// Only `usage`, `entitlement` and the rate limit are documented; the others are assumptions.
function accountOf(key: Key, now: number): Me {
  const { id, mode, plan, title, scopes, ratePerMinute, unmetered, monthlyUnits } = key;
  return {
    account: { id: `account-of-${id}`, name: 'Sandbox', mode },
    plan: { id: plan, name: title },
    scopes: [...scopes],
    ratePerMinute,
    entitlement: { unmetered, monthlyUnits },
    usage: { ...usageOf(key, now) },
  };
}

/** How long a live resolve waits for each live resolve ahead of it in the queue. */
const QUEUE_SLOT_MS = 1_500;
/** How long a call waits for a live resolve in progress before it gets `timeout`. */
const MAX_WAIT_MS = 10_000;
const hit = { cu: cu.reveal, reveals: 1 };

/**
 * Searches for a wallet if none is verified. A key that cannot pay for a found wallet is rejected
 * before any work starts, as the description says, even if nothing would be found.
 */
async function resolve(sandbox: SandboxState, handle: string, key: Key) {
  const { world, clock, counts, resolves } = sandbox;
  checkHandle(handle);
  const shortage = shortageOf(key, hit, clock.now());
  if (shortage) throw new ApiError(shortage);
  const user = world.user(servedHandle(handle));
  if (!user) throw new ApiError('NOT_OBSERVED');
  if (key.isFree && !world.isSample(user.id)) throw new ApiError('FORBIDDEN');
  const answer = (source: 'cached' | 'live') => ({
    status: 200 as const,
    record: user,
    headers: { [RESOLVE_HEADER]: source },
  });
  if (holdsWallet(user)) return answer('cached');

  let running = resolves.get(user.id);
  if (!running) {
    const plan = world.resolvePlan(user.id);
    if (plan.outcome === 'pending') return pending(plan.reason);
    counts.resolvesStarted++;
    const startsAt = clock.now() + plan.queue * QUEUE_SLOT_MS;
    const started = { startsAt, doneAt: startsAt + plan.ms };
    running = started;
    resolves.set(user.id, started);
    clock.at(started.doneAt, () => {
      // A restart cancels live resolves, and another one may have begun since: the calls that wait
      // get `unavailable`.
      if (resolves.get(user.id) !== started) return;
      resolves.delete(user.id);
      world.reveal(user.id);
    });
  }
  const { startsAt, doneAt } = running;
  if (startsAt > clock.now()) return queued(startsAt - clock.now());
  // Reserve the price of a found wallet, so that other calls of the key cannot spend it during the
  // search.
  key.reserved.cu += hit.cu;
  key.reserved.reveals += hit.reveals;
  counts.resolvesWaiting++;
  await new Promise<void>((wake) => clock.at(Math.min(doneAt, clock.now() + MAX_WAIT_MS), wake));
  counts.resolvesWaiting--;
  key.reserved.cu -= hit.cu;
  key.reserved.reveals -= hit.reveals;
  if (holdsWallet(user)) return answer('live');
  return pending(doneAt > clock.now() ? 'timeout' : 'unavailable');
}

const pending = (reason: PendingReason, more: Partial<Pending> = {}) => ({
  status: 202 as const,
  record: {
    pending: true as const,
    reason,
    retryable: reason !== 'no_preview',
    ...(reason === 'rate_limited' && { retryAfterSeconds: 5 }),
    ...more,
  },
});

const queued = (waitMs: number) =>
  pending('queued', {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
    position: Math.ceil(waitMs / QUEUE_SLOT_MS),
  });
