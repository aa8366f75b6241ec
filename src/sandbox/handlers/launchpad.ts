import { endpoints } from '../../contract/endpoints.ts';
import { ok, refuse, route } from '../server/http/endpoint-handler.ts';
import type { Routes, Service } from './service.ts';

type Launchpad =
  | 'launchpad.user'
  | 'launchpad.callouts'
  | 'launchpad.callouts.coin'
  | 'launchpad.callouts.wallet'
  | 'launchpad.board';

/** The launchpad's accounts, callouts and leaderboard. */
export function launchpadRoutes({ world, clock }: Service): Routes<Launchpad> {
  const { launchpad } = world;
  return {
    'launchpad.user': route(endpoints['launchpad.user'], ({ params }) => {
      const user = launchpad.user(params.wallet);
      return user ? ok(user) : refuse('NOT_OBSERVED');
    }),
    'launchpad.callouts': route(endpoints['launchpad.callouts'], ({ query }) => walk({}, query.before)),
    'launchpad.callouts.coin': route(endpoints['launchpad.callouts.coin'], ({ params, query }) =>
      walk({ coin: params.mint }, query.before),
    ),
    'launchpad.callouts.wallet': route(endpoints['launchpad.callouts.wallet'], ({ params, query }) =>
      walk({ wallet: params.wallet }, query.before),
    ),
    'launchpad.board': route(endpoints['launchpad.board'], ({ query }) => {
      const at = query.at === undefined ? clock.now() : instantOf(query.at);
      if (at === null) return refuse('VALIDATION_ERROR', 'at: neither epoch milliseconds nor an ISO time.');
      return ok(launchpad.board(query.period ?? 'weekly', Math.min(at, clock.now())));
    }),
  };

  function walk(filter: { coin?: string; wallet?: string }, before: string | undefined) {
    const slice = launchpad.callouts(filter, before, clock.now());
    if (!slice) return refuse('VALIDATION_ERROR', 'before: no callout of this feed has that id.');
    const items = [...slice.items];
    const nextBefore = slice.hasMore ? (items.at(-1)?.id ?? null) : null;
    return ok({ count: items.length, hasMore: slice.hasMore, nextBefore, items });
  }
}

/** An instant as epoch milliseconds or as an ISO time; null where it is neither. */
function instantOf(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?)?$/i.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
