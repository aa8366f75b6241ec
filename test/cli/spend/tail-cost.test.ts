import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { totalOf } from '../../../src/cli/spend/preflight.ts';
import { approveTail, plannedTail, type TailShape } from '../../../src/cli/spend/tail-cost.ts';
import { THESIS_BLOCK } from '../../../src/contract/limits.ts';
import { calloutCall, thesisCall } from '../../../src/core/pages/feeds.ts';

const streaming = { socket: true, lagMs: 10_000, page: thesisCall({}, { limit: THESIS_BLOCK }) };
const polling = { socket: false, lagMs: 30_000, page: calloutCall({}, {}) };
const socketMinute = 20_000 + 2 * 200;
const mostOf = (shape: TailShape) => totalOf(plannedTail(shape)).most;

test.each([
  // Every started minute counts, and the walks at the start.
  ['streaming', { ...streaming, durationMs: 60_001 }, 2 * socketMinute + 20 * 200],
  // A page per poll, and the walk that verifies.
  ['polling', { ...polling, durationMs: 60_000 }, 3 * 10 + 20 * 10],
  ['with a backfill', { ...polling, durationMs: 60_000, backfill: 41 }, 3 * 10 + (20 + 3) * 10],
])('the cost of a tail of known duration: %s', (_, shape, most) => expect(mostOf(shape)).toBe(most));

describe('a tail', () => {
  const approvalOf = async (durationMs: number | undefined) => {
    const asked: string[] = [];
    const permission = {
      approve: async (
        _: unknown,
        { costs, cheaper }: { costs: (cost: string) => string; cheaper?: string },
      ) => void asked.push(`${costs('N CU')}; ${cheaper}`),
      begin: (run: { rate: () => string }) => void asked.push(`begin: ${run.rate()}`),
    };
    await approveTail({ permission } as unknown as Context, { ...streaming, durationMs });
    return asked;
  };

  test.each([
    [90_000, 'Streaming for 1m30s will cost N CU; polling every 10s: at most 6,800 CU'],
    [undefined, 'begin: streaming costs 20,000 CU/min, polling every 10s costs 1,200 CU/min'],
  ])('of %s ms is confirmed, or starts at once', async (durationMs, asked) =>
    expect(await approvalOf(durationMs)).toEqual([asked]),
  );
});
