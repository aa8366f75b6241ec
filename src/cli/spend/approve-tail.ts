import { unitsText } from '../../base/units.ts';
import type { Client } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';
import { lengthText } from '../../output/format/time.ts';
import type { TailOptions } from '../../tail/ports.ts';
import type { Context } from '../context.ts';
import { everyText, perMinuteText } from '../tail/notice-text.ts';
import type { Permission } from './permission.ts';
import { type TailShape, tailEstimate } from './tail-cost.ts';

const MINUTE = 60_000;

/**
 * Decides whether a tail may start. If the duration is known, the maximum cost is known too, and the user must
 * confirm a high cost. If not, the tail starts at once, and asks when it reaches its limit.
 */
export async function approveTail(context: Context, shape: TailShape): Promise<void> {
  const { permission } = context;
  const { durationMs, noFollow, socket, lagMs } = shape;
  if (durationMs === undefined || noFollow) {
    permission.begin({
      rate: noFollow ? undefined : () => rateText(shape),
      stopped: () => ({
        message: 'stopped at the spending limit',
        hint: 'run the command again to continue',
      }),
    });
    return;
  }
  const bounded = { ...shape, durationMs };
  const polling = unitsText(tailEstimate({ ...bounded, socket: false }).most);
  await permission.approve(tailEstimate(bounded), {
    costs: (cost) => `${socket ? 'Streaming' : 'Polling'} for ${lengthText(durationMs)} will cost ${cost}`,
    cheaper: socket ? `polling ${everyText(lagMs)}: at most ${polling}` : undefined,
  });
}

/** The cost of following the feed: `streaming costs 20,000 CU/min, polling every 10s costs 1,200 CU/min`. */
function rateText(shape: TailShape): string {
  const polling = `polling ${everyText(shape.lagMs)}`;
  const price = perMinuteText((shape.page * MINUTE) / shape.lagMs);
  if (!shape.socket) return `${polling} costs ${price}, less with a longer --lag`;
  return `streaming costs ${perMinuteText(cu.socketMinute)}, ${polling} costs ${price}`;
}

/** What a tail may still spend by the limit of its run; null if it has none, or can ask for more. */
export const limitLeft =
  (permission: Permission, client: Pick<Client, 'spent'>): NonNullable<TailOptions['limitLeft']> =>
  () =>
    permission.limit === undefined || permission.canRaise ? null : permission.limit - client.spent.atMost;
