import { type Handlers, reject, reply } from '../http/endpoint.ts';
import type { SandboxState } from '../state.ts';
import type { CalloutFilter } from '../world/world.ts';

export const launchpadHandlers: Pick<
  Handlers,
  | 'launchpad.user'
  | 'launchpad.callouts'
  | 'launchpad.callouts.coin'
  | 'launchpad.callouts.wallet'
  | 'launchpad.board'
> = {
  'launchpad.user'({ world }, { params }) {
    const user = world.launchpad.user(params.wallet);
    return user ? reply(user) : reject('NOT_OBSERVED');
  },
  'launchpad.callouts': (sandbox, { query }) => pageOf(sandbox, {}, query.before),
  'launchpad.callouts.coin': (sandbox, { params, query }) =>
    pageOf(sandbox, { coin: params.mint }, query.before),
  'launchpad.callouts.wallet': (sandbox, { params, query }) =>
    pageOf(sandbox, { wallet: params.wallet }, query.before),
  'launchpad.board'({ world, clock }, { query }) {
    const at = query.at === undefined ? clock.now() : parseInstant(query.at);
    if (at === null) return reject('VALIDATION_ERROR', 'at: must be epoch milliseconds or an ISO time.');
    return reply(world.launchpad.board(query.period ?? 'weekly', Math.min(at, clock.now())));
  },
};

function pageOf({ world, clock }: SandboxState, filter: CalloutFilter, before: string | undefined) {
  const slice = world.launchpad.callouts(filter, before, clock.now());
  if (!slice) return reject('VALIDATION_ERROR', 'before: unknown callout id.');
  const items = [...slice.items];
  const nextBefore = slice.hasMore ? (items.at(-1)?.id ?? null) : null;
  return reply({ count: items.length, hasMore: slice.hasMore, nextBefore, items });
}

function parseInstant(text: string): number | null {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}(-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?)?$/i.test(text)) return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
