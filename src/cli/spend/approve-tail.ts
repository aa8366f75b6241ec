import { cu } from '../../contract/endpoints.ts';
import { THESIS_BLOCK } from '../../contract/limits.ts';
import type { Context } from '../context.ts';

const MINUTE = 60_000;
/** Pages for a start, its confirming walks and a few gaps. */
const WALKS = 20;

/**
 * Confirms a tail that can cost much. Returns the limit of the run: --max-cu, else what may be spent without a
 * confirmation; none after a confirmation. `pollMs` is 0 where the socket may be used.
 */
export async function approveTail(
  context: Context,
  durationMs: number | undefined,
  pollMs: number,
  page: number,
  backfill = 0,
): Promise<number | undefined> {
  const { confirmAbove, maxCu } = context.settings;
  const minutes = durationMs === undefined ? null : Math.ceil(durationMs / MINUTE);
  const perMinute = pollMs === 0 ? cu.socketMinute + 2 * page : (page * MINUTE) / pollMs + page;
  const walks = WALKS + Math.ceil(backfill / THESIS_BLOCK);
  const most = minutes === null ? null : Math.ceil(minutes * perMinute) + walks * page;
  await context.approve({ least: pollMs === 0 ? cu.socketMinute : page, most }, 'this tail');
  if (maxCu !== undefined) return maxCu;
  return most !== null && most <= confirmAbove && !context.globals.yes ? confirmAbove : undefined;
}
