import { unitsText } from '../../base/units.ts';
import { cu } from '../../contract/prices.ts';
import { lengthText } from '../../output/format/time.ts';
import type { TailOptions } from '../../tail/options.ts';
import type { Context } from '../context.ts';
import { everyText, perMinuteText } from '../tail/notice-text.ts';
import type { Permission } from './permission.ts';
import { type TailShape, tailEstimate } from './tail-cost.ts';

const MINUTE = 60_000;

/**
 * Starts a tail. With a known duration, its cost is known and confirmed if it is high; without one, it
 * starts at once and asks at its limit.
 */
export async function approveTail(context: Context, shape: TailShape): Promise<void> {
  const { permission } = context;
  const { durationMs, socket, lagMs } = shape;
  if (durationMs === undefined) {
    permission.begin({
      rate: () => rateText(shape),
      stopped: (spent) => ({ message: `stopped after ${spent}`, hint: 'run it again to continue' }),
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

/** `streaming costs 20,000 CU/min, polling every 10s 1,200 CU/min` */
function rateText(shape: TailShape): string {
  const polling = `polling ${everyText(shape.lagMs)}`;
  const price = perMinuteText((shape.page * MINUTE) / shape.lagMs);
  if (!shape.socket) return `${polling} costs ${price}, a longer --lag less`;
  return `streaming costs ${perMinuteText(cu.socketMinute)}, ${polling} ${price}`;
}

/** The limit of a tail, and how to raise it. */
export const limitsOf = (permission: Permission): Pick<TailOptions, 'ceiling' | 'raise'> => ({
  ceiling: () => permission.limit,
  ...(permission.canRaise && { raise: permission.raise }),
});
