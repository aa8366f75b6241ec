import { endpoints } from '../../contract/endpoints.ts';
import { THESIS_BLOCK, THESIS_LIMIT_DEFAULT } from '../../contract/limits.ts';
import type { ThesisPage } from '../../contract/records/thesis.ts';
import { endpointHandler, reject, reply } from '../server/http/endpoint-handler.ts';
import { normalAddress } from '../world/address.ts';
import type { ThesisFilter } from '../world/types.ts';
import type { EndpointHandlers, HandlerContext } from './context.ts';

type Theses = 'thesis.all' | 'thesis.token' | 'thesis.user' | 'thesis.userToken';
interface PageQuery {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** The pages of the thesis feed, newest first. */
export function thesisHandlers({ world, clock, page }: HandlerContext): EndpointHandlers<Theses> {
  return {
    'thesis.all': endpointHandler(endpoints['thesis.all'], ({ query }) => {
      const common = commonPage({}, query);
      return common ? reply(common) : unknownCursor();
    }),
    'thesis.token': endpointHandler(endpoints['thesis.token'], ({ params, query }) => {
      const tokenAddress = normalAddress(params.tokenAddress);
      const common = commonPage({ tokenAddress }, query);
      if (!common) return unknownCursor();
      // For each of these fields, use the first item that has it, because not every item has all fields.
      const tokenNetwork = common.items.find((item) => item.tokenNetwork)?.tokenNetwork ?? null;
      const symbol = common.items.find((item) => item.tokenSymbol)?.tokenSymbol ?? null;
      return reply({ tokenAddress, tokenNetwork, symbol, ...common });
    }),
    'thesis.user': endpointHandler(endpoints['thesis.user'], ({ params, query }) => {
      return userPage(params.id.toLowerCase(), null, query);
    }),
    'thesis.userToken': endpointHandler(endpoints['thesis.userToken'], ({ params, query }) => {
      return userPage(params.id.toLowerCase(), normalAddress(params.tokenAddress), query);
    }),
  };

  function userPage(userId: string, tokenAddress: string | null, query: PageQuery) {
    const common = commonPage({ userId, tokenAddress: tokenAddress ?? undefined }, query);
    return common ? reply({ userId, tokenAddress, ...common }) : unknownCursor();
  }

  function commonPage(
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
}

const unknownCursor = () => reject('VALIDATION_ERROR', 'before: unknown thesis id.');
