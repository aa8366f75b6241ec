import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RowState, RowStates } from '../../src/base/row-states.ts';

test('row states equal a list of states, whatever happens to the rows', () => {
  const acts = fc.constantFrom('ask', 'wait', 'fail', 'answer', 'release');
  const size = 12;
  fc.assert(
    fc.property(fc.array(fc.tuple(acts, fc.nat(size - 1), fc.nat(5))), (story) => {
      const states = new RowStates(size);
      const model = Array.from({ length: size }, (): RowState => 'open');
      const batches = new Map<number, number>();
      for (const [act, row, batch] of story) {
        if (act === 'answer') {
          states.answer(row, batch);
          model[row] = 'answered';
          batches.set(row, batch);
        } else if (act === 'release') {
          states.release(row);
          if (model[row] === 'asked' || model[row] === 'waiting') model[row] = 'open';
        } else {
          states[act](row);
          model[row] = ({ ask: 'asked', wait: 'waiting', fail: 'failed' } as const)[act];
          batches.delete(row);
        }
        const open = model.flatMap((state, at) => (state === 'open' ? [at] : []));
        expect([states.open(), states.open(2)]).toEqual([open, open.slice(0, 2)]);
        expect(model.map((_, at) => [states.of(at), states.batchOf(at)])).toEqual(
          model.map((state, at) => [state, batches.get(at)]),
        );
        for (const state of model)
          expect(states.count(state)).toBe(model.filter((each) => each === state).length);
      }
    }),
  );
});
