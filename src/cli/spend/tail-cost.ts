import { THESIS_BLOCK } from '../../contract/limits.ts';
import { cu } from '../../contract/prices.ts';
import type { Planned } from '../context.ts';

const MINUTE = 60_000;
/**
 * The number of pages that an estimate includes for the start, for the walks that verify the start, and for a
 * few gaps.
 */
const WALKS = 20;

/** The facts that determine the cost of a tail. */
export interface TailShape {
  readonly durationMs: number | undefined;
  /** Whether the tail ends when it has read all posts up to now, whose number is not known. */
  readonly noFollow?: boolean;
  /** Whether the WebSocket may be used. */
  readonly socket: boolean;
  readonly lagMs: number;
  /** CU per page. */
  readonly page: number;
  readonly backfill?: number | undefined;
}

/** Pages per minute: the polls, and the walks that verify the feed. With the WebSocket, only the walks. */
const pagesPerMinute = ({ socket, lagMs }: Pick<TailShape, 'socket' | 'lagMs'>): number =>
  socket ? 2 : Math.ceil(MINUTE / lagMs) + 1;

/** CU per minute if the posts between two polls fit on one page. */
const tailPerMinute = (shape: Pick<TailShape, 'socket' | 'lagMs' | 'page'>): number =>
  (shape.socket ? cu.socketMinute : 0) + shape.page * pagesPerMinute(shape);

const minutesOf = (durationMs: number): number => Math.ceil(durationMs / MINUTE);

const walksOf = ({ backfill = 0 }: TailShape): number => WALKS + Math.ceil(backfill / THESIS_BLOCK);

/** The calls that a dry run lists for a tail: per minute, or for its whole duration if that is known. */
export function plannedTail(shape: TailShape, page: Planned): Planned[] {
  const { durationMs, noFollow, socket } = shape;
  if (noFollow) return [{ ...page, times: null }];
  const often = pagesPerMinute(shape);
  if (durationMs === undefined) {
    return [...(socket ? [{ id: 'ws', ask: {}, perMinute: 1 } as const] : []), { ...page, perMinute: often }];
  }
  const minutes = minutesOf(durationMs);
  return [
    ...(socket ? [{ id: 'ws', ask: {}, times: minutes } as const] : []),
    { ...page, times: minutes * often + walksOf(shape) },
  ];
}

/** The cost of a tail whose duration is known. */
export function tailEstimate(shape: TailShape & { readonly durationMs: number }) {
  return {
    least: shape.socket ? cu.socketMinute : shape.page,
    most: Math.ceil(minutesOf(shape.durationMs) * tailPerMinute(shape)) + walksOf(shape) * shape.page,
  };
}
