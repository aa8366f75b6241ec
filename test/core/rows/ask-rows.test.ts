import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { askRows } from '../../../src/core/rows/ask-rows.ts';
import { MemoryRows } from '../../../src/core/rows/memory-rows.ts';
import { virtualClock } from '../virtual-clock.ts';

const lost = new Failure('network', 'lost', { code: 'BROKEN', cuLost: 7 });
const unpaid = new Failure('service', 'down', { code: 'INTERNAL_ERROR', status: 500 });

/** Rows that cannot be written the first times. */
class FullRows extends MemoryRows<string> {
  refusals = 0;

  override answered(batch: number, values: readonly { row: number; value: string }[]): void {
    if (this.refusals-- > 0) throw new Error('no space');
    super.answered(batch, values);
  }
}

function rig(size = 4) {
  const [rows, clock] = [new FullRows(size), virtualClock()];
  const saved: string[] = [];
  const ask = (asked: readonly number[], reply: () => readonly number[], signal?: AbortSignal) =>
    askRows<string, { row: number; value: string }>(rows, asked, { clock, signal }, async () => ({
      values: reply().map((row) => ({ row, value: `v${row}` })),
      save: async () => void saved.push('saved'),
    }));
  const states = () => Array.from({ length: size }, (_, row) => rows.states.of(row));
  return { rows, clock, saved, ask, states };
}

const fails = (error: Failure) => () => {
  throw error;
};

describe('rows that are asked for', () => {
  test('are answered, also those that the answer has beside them', async () => {
    const { rows, ask, states, saved } = rig();
    const asked = await ask([0, 1], () => [1, 0, 3]);
    expect([asked.kind, saved, states()]).toEqual([
      ...['answered', ['saved']],
      ['answered', 'answered', 'open', 'answered'],
    ]);
    expect([0, 1, 2, 3].map((row) => rows.read(row))).toEqual(['v0', 'v1', undefined, 'v3']);
  });

  test('are not asked for again if a paid answer leaves them out', async () => {
    const { ask, states } = rig();
    await ask([0, 1, 2], () => [1]);
    expect(states()).toEqual(['failed', 'answered', 'failed', 'open']);
  });

  test.each([
    ['lost', lost, 7],
    ['unpaid', unpaid, undefined],
  ])('are open again if the answer is %s, and the error is the one of the call', async (...it) => {
    const [kind, error, cuAtMost] = it;
    const { ask, states } = rig();
    const asked = await ask([0, 1], fails(error));
    expect(asked).toEqual({ kind, error, ...(cuAtMost && { cuAtMost }) });
    expect([asked.kind === 'answered' || asked.error, states()[0]]).toEqual([error, 'open']);
  });

  test.each([
    [10, true],
    [11, false],
  ])('are written again for ten seconds: %i refusals', async (refusals, isWritten) => {
    const { rows, ask, states, saved, clock } = rig();
    rows.refusals = refusals;
    const asking = ask([0], () => [0]);
    if (isWritten) expect((await asking).kind).toBe('answered');
    else await expect(asking).rejects.toThrow('no space');
    // The cache has the answer in any case.
    expect([saved, clock.slept.length]).toEqual([['saved'], 10]);
    expect(states()[0]).toBe(isWritten ? 'answered' : 'asked');
  });

  test('are not waited for after Ctrl-C', async () => {
    const { rows, ask, clock } = rig();
    rows.refusals = 1;
    await expect(ask([0], () => [0], AbortSignal.abort())).rejects.toThrow('no space');
    expect(clock.slept).toEqual([]);
  });
});
