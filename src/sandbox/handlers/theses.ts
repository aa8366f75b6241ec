import { endpoints } from '../../contract/endpoints.ts';
import { THESIS_BLOCK, THESIS_LIMIT_DEFAULT } from '../../contract/limits.ts';
import type { ThesisPage } from '../../contract/records/thesis.ts';
import { ok, refuse, route } from '../server/http/endpoint-handler.ts';
import { normalAddress } from '../world/address.ts';
import type { ThesisFilter } from '../world/types.ts';
import type { Routes, Service } from './service.ts';

type Theses = 'thesis.all' | 'thesis.token' | 'thesis.user' | 'thesis.userToken';
interface Walk {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** The thesis feed in pages, newest first. */
export function thesisRoutes({ world, clock, page }: Service): Routes<Theses> {
  return {
    'thesis.all': route(endpoints['thesis.all'], ({ query }) => {
      const common = walk({}, query);
      return common ? ok(common) : unknownCursor();
    }),
    'thesis.token': route(endpoints['thesis.token'], ({ params, query }) => {
      const tokenAddress = normalAddress(params.tokenAddress);
      const common = walk({ tokenAddress }, query);
      if (!common) return unknownCursor();
      // Not every item names them, and the page does as long as any item can tell.
      const tokenNetwork = common.items.find((item) => item.tokenNetwork)?.tokenNetwork ?? null;
      const symbol = common.items.find((item) => item.tokenSymbol)?.tokenSymbol ?? null;
      return ok({ tokenAddress, tokenNetwork, symbol, ...common });
    }),
    'thesis.user': route(endpoints['thesis.user'], ({ params, query }) => {
      return narrowed(params.id.toLowerCase(), null, query);
    }),
    'thesis.userToken': route(endpoints['thesis.userToken'], ({ params, query }) => {
      return narrowed(params.id.toLowerCase(), normalAddress(params.tokenAddress), query);
    }),
  };

  function narrowed(userId: string, tokenAddress: string | null, query: Walk) {
    const common = walk({ userId, tokenAddress: tokenAddress ?? undefined }, query);
    return common ? ok({ userId, tokenAddress, ...common }) : unknownCursor();
  }

  function walk(filter: ThesisFilter, { before, limit = THESIS_LIMIT_DEFAULT }: Walk): ThesisPage | null {
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

const unknownCursor = () => refuse('VALIDATION_ERROR', 'before: no item of this feed has that id.');
