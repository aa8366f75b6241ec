import { THESIS_BLOCK, THESIS_LIMIT_DEFAULT } from '../../contract/limits.ts';
import type { ThesisPage } from '../../contract/records/thesis.ts';
import { type Handlers, reject, reply } from '../http/endpoint.ts';
import type { SandboxState } from '../state.ts';
import { normalAddress } from '../world/address.ts';
import type { ThesisFilter } from '../world/world.ts';

interface PageQuery {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

export const thesisHandlers: Pick<
  Handlers,
  'thesis.all' | 'thesis.token' | 'thesis.user' | 'thesis.userToken'
> = {
  'thesis.all'(sandbox, { query }) {
    const page = pageOf(sandbox, {}, query);
    return page ? reply(page) : unknownCursor();
  },
  'thesis.token'(sandbox, { params, query }) {
    const tokenAddress = normalAddress(params.tokenAddress);
    const page = pageOf(sandbox, { tokenAddress }, query);
    if (!page) return unknownCursor();
    // For each of these fields, use the first item that has it, because not every item has all fields.
    const tokenNetwork = page.items.find((item) => item.tokenNetwork)?.tokenNetwork ?? null;
    const symbol = page.items.find((item) => item.tokenSymbol)?.tokenSymbol ?? null;
    return reply({ tokenAddress, tokenNetwork, symbol, ...page });
  },
  'thesis.user': (sandbox, { params: { id }, query }) => userPage(sandbox, id, null, query),
  'thesis.userToken': (sandbox, { params: { id, tokenAddress }, query }) =>
    userPage(sandbox, id, normalAddress(tokenAddress), query),
};

function userPage(sandbox: SandboxState, id: string, tokenAddress: string | null, query: PageQuery) {
  const userId = id.toLowerCase();
  const page = pageOf(sandbox, { userId, tokenAddress: tokenAddress ?? undefined }, query);
  return page ? reply({ userId, tokenAddress, ...page }) : unknownCursor();
}

function pageOf(
  { world, clock, page }: SandboxState,
  filter: ThesisFilter,
  { before, limit = THESIS_LIMIT_DEFAULT }: PageQuery,
): ThesisPage | null {
  const rows = page === 'capped' ? Math.min(limit, THESIS_BLOCK) : limit;
  const slice = world.theses.slice(filter, before, rows, clock.now());
  if (!slice) return null;
  const { hasMore } = slice;
  const items = [...slice.items];
  return {
    count: items.length,
    hasMore,
    nextBefore: hasMore ? (items.at(-1)?.id ?? null) : null,
    updatedAt: items.find(({ platformCreatedAt }) => platformCreatedAt !== null)?.platformCreatedAt ?? null,
    items,
  };
}

const unknownCursor = () => reject('VALIDATION_ERROR', 'before: unknown thesis id.');
