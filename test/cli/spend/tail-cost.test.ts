import { describe, expect, test } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { approveTail } from '../../../src/cli/spend/approve-tail.ts';
import { tailEstimate } from '../../../src/cli/spend/tail-cost.ts';

const streaming = { socket: true, lagMs: 10_000, page: 200 };
const polling = { socket: false, lagMs: 30_000, page: 10 };
const socketMinute = 20_000 + 2 * 200;

describe('the cost of a tail', () => {
  test('includes every started minute, and the walks at its start', () => {
    expect(tailEstimate({ ...streaming, durationMs: 60_001 })).toEqual({
      least: 20_000,
      most: 2 * socketMinute + 20 * 200,
    });
  });

  test('includes a page per poll and the verifying walk', () => {
    expect(tailEstimate({ ...polling, durationMs: 60_000 })).toEqual({ least: 10, most: 3 * 10 + 20 * 10 });
  });

  test('includes the pages of the backfill', () => {
    const { most } = tailEstimate({ ...polling, durationMs: 60_000, backfill: 41 });
    expect(most).toBe(3 * 10 + (20 + 3) * 10);
  });
});

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

  test('of known duration names the cheaper mode', async () => {
    expect(await approvalOf(90_000)).toEqual([
      'Streaming for 1m30s will cost N CU; polling every 10s: at most 6,800 CU',
    ]);
  });

  test('without an end starts at once', async () => {
    expect(await approvalOf(undefined)).toEqual([
      'begin: streaming costs 20,000 CU/min, polling every 10s costs 1,200 CU/min',
    ]);
  });
});
