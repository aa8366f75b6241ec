import { unitsText } from '../../base/units.ts';
import { cu, THESIS_BLOCK } from '../../contract/limits.ts';
import { lengthText } from '../../output/format/time.ts';
import type { Context } from '../run/context.ts';
import type { Planned } from '../run/planned.ts';
import { everyText, perMinuteText } from '../tail/notice-text.ts';
import { totalOf } from './preflight.ts';

const MINUTE = 60_000;
/** Pages for the start, for the walks that verify it, and for a few gaps. */
const WALKS = 20;

interface TailShape {
  readonly durationMs: number | undefined;
  /** The tail ends when it has read all posts up to now, whose number is not known. */
  readonly noFollow?: boolean;
  readonly socket: boolean;
  readonly lagMs: number;
  readonly page: Planned;
  readonly backfill?: number | undefined;
}

export function plannedTail(shape: TailShape): Planned[] {
  const { durationMs, noFollow, socket, lagMs, page, backfill = 0 } = shape;
  if (noFollow) return [{ ...page, times: null }];
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

/** With a duration, the maximum cost is known and may need a confirmation. Else the tail asks at its limit. */
export async function approveTail({ service }: Context, shape: TailShape): Promise<void> {
  const { durationMs, noFollow, socket, lagMs, page } = shape;
  const polling = `polling ${everyText(lagMs)}`;
  const pageCu = totalOf([page]).least;
  const price = `${polling} costs ${perMinuteText((pageCu * MINUTE) / lagMs)}`;
  const rate = socket
    ? `streaming costs ${perMinuteText(cu.socketMinute)}, ${price}`
    : `${price}, less with a longer --lag`;
  const mostOf = (via: TailShape) =>
    durationMs === undefined ? null : totalOf(plannedTail(via)).most;
  const costs = (cost: string) =>
    `${socket ? 'Streaming' : 'Polling'} for ${lengthText(durationMs ?? 0)} will cost ${cost}`;
  await service.permission.start(
    { least: socket ? cu.socketMinute : pageCu, most: mostOf(shape) },
    costs,
    {
      rate: noFollow ? undefined : rate,
      stopped: () => ({
        message: 'stopped at the spending limit',
        hint: 'run the command again to continue',
      }),
      cheaper: socket
        ? `${polling}: at most ${unitsText(mostOf({ ...shape, socket: false }) ?? 0)}`
        : undefined,
    },
  );
}
