import { unitsText } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import {
  followed,
  type LookupFirst,
  noLookup,
  type Plan,
  type Planned,
  type PlannedEndpoint,
  totalOf,
} from '../../core/spend/plan.ts';
import { lengthText } from '../../output/format/time.ts';
import type { TailFlags } from './flags.ts';
import { everyText, perMinuteText } from './notice-text.ts';

const MINUTE = 60_000;
/** Pages for the start, for the walks that verify it, and for a few gaps. */
const WALKS = 20;

interface TailShape {
  readonly durationMs: number | undefined;
  /** The tail ends when it has read all posts up to now, whose number is not known. */
  readonly noFollow?: boolean;
  readonly socket: boolean;
  readonly lagMs: number;
  readonly page: PlannedEndpoint;
  /**
   * A page of the feed of one of several authors, coins or wallets, which a long way back is read
   * from.
   */
  readonly ownPage?: PlannedEndpoint | undefined;
  readonly backfill?: number | undefined;
}

/**
 * The shape of a tail that reads these feeds, or for several of them that of all posts. `callOf` is
 * the call of a page.
 */
export function tailShape<S>(
  flags: Pick<TailFlags, 'duration' | 'noFollow' | 'lag' | 'backfill'>,
  scopes: readonly S[],
  callOf: (scope: S | undefined) => PlannedEndpoint,
  socket: boolean,
): TailShape {
  const isSeveral = scopes.length > 1;
  return {
    durationMs: flags.duration,
    noFollow: flags.noFollow,
    socket,
    lagMs: flags.lag,
    page: callOf(isSeveral ? undefined : scopes[0]),
    ownPage: isSeveral ? callOf(scopes[0]) : undefined,
    backfill: flags.backfill,
  };
}

function plannedTail(shape: TailShape): Planned[] {
  const { durationMs, noFollow, socket, lagMs, page, ownPage, backfill = 0 } = shape;
  if (noFollow) {
    const own = ownPage ? [{ ...ownPage, times: null, isSure: false }] : [];
    return [{ ...page, times: null }, ...own];
  }
  // The polls, and the walks that verify the feed. With the WebSocket, only the walks.
  const perMinute = socket ? 2 : Math.ceil(MINUTE / lagMs) + 1;
  if (durationMs === undefined)
    return [
      ...(socket ? [{ id: 'ws', ask: {}, perMinute: 1 } as const] : []),
      { ...page, perMinute },
    ];
  const minutes = Math.ceil(durationMs / MINUTE);
  const walks = WALKS + Math.ceil(backfill / THESIS_BLOCK);
  return [
    // While a minute of the socket lasts, the next one is reserved.
    ...(socket ? [{ id: 'ws', ask: {}, times: minutes + 1 } as const] : []),
    { ...page, times: minutes * perMinute + walks },
  ];
}

/**
 * What a tail costs, with the lookup that comes before it. With a duration, the maximum cost is known
 * and may need a confirmation; otherwise the tail asks at its limit.
 */
export function tailPlan(shape: TailShape, first: LookupFirst = noLookup): Plan {
  const { durationMs, noFollow, socket, lagMs, page } = shape;
  const polling = `polling ${everyText(lagMs)}`;
  const price = `${polling} costs ${perMinuteText((totalOf([page]).least * MINUTE) / lagMs)}`;
  const rate = socket
    ? `streaming costs ${perMinuteText(cu.socketMinute)}, ${price}`
    : `${price}, less with a longer --lag`;
  const { most: polled } = totalOf(plannedTail({ ...shape, socket: false }));
  return {
    calls: followed(first, [{ id: 'me', ask: {} }, ...plannedTail(shape)]),
    // Calls per minute are no total.
    isOpen: durationMs === undefined,
    costs: (cost) =>
      `${socket ? 'Streaming' : 'Polling'} for ${lengthText(durationMs ?? 0)} will cost ${cost}`,
    cheaper: socket ? `${polling}: at most ${unitsText(polled ?? 0)}` : undefined,
    rate: noFollow ? undefined : rate,
    stopped: () => ({
      message: 'stopped at the spending limit',
      hint: 'run the command again to continue',
    }),
  };
}
