import { endpoints } from '../../contract/endpoints.ts';
import { endpointHandler, reject, reply } from '../server/http/endpoint-handler.ts';
import type { EndpointHandlers, HandlerContext } from './context.ts';

type Launchpad =
  | 'launchpad.user'
  | 'launchpad.callouts'
  | 'launchpad.callouts.coin'
  | 'launchpad.callouts.wallet'
  | 'launchpad.board';

/** Launchpad accounts, callouts and leaderboards. */
export function launchpadHandlers({ world, clock }: HandlerContext): EndpointHandlers<Launchpad> {
  const { launchpad } = world;
  return {
    'launchpad.user': endpointHandler(endpoints['launchpad.user'], ({ params }) => {
      const user = launchpad.user(params.wallet);
      return user ? reply(user) : reject('NOT_OBSERVED');
    }),
    'launchpad.callouts': endpointHandler(endpoints['launchpad.callouts'], ({ query }) =>
      page({}, query.before),
    ),
    'launchpad.callouts.coin': endpointHandler(endpoints['launchpad.callouts.coin'], ({ params, query }) =>
      page({ coin: params.mint }, query.before),
    ),
    'launchpad.callouts.wallet': endpointHandler(
      endpoints['launchpad.callouts.wallet'],
      ({ params, query }) => page({ wallet: params.wallet }, query.before),
    ),
    'launchpad.board': endpointHandler(endpoints['launchpad.board'], ({ query }) => {
      const at = query.at === undefined ? clock.now() : parseInstant(query.at);
      if (at === null) return reject('VALIDATION_ERROR', 'at: must be epoch milliseconds or an ISO time.');
      return reply(launchpad.board(query.period ?? 'weekly', Math.min(at, clock.now())));
    }),
  };

  function page(filter: { coin?: string; wallet?: string }, before: string | undefined) {
    const slice = launchpad.callouts(filter, before, clock.now());
    if (!slice) return reject('VALIDATION_ERROR', 'before: unknown callout id.');
    const items = [...slice.items];
    const nextBefore = slice.hasMore ? (items.at(-1)?.id ?? null) : null;
    return reply({ count: items.length, hasMore: slice.hasMore, nextBefore, items });
  }
}

/** Parses epoch milliseconds or an ISO time; null if the text is neither. */
function parseInstant(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?)?$/i.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
