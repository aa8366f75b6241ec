import { expect, test } from 'vitest';
import { TailEnd } from '../../src/tail/tail-end.ts';
import { virtualClock } from '../core/virtual-clock.ts';

/** What the other parts of a tail know when nothing is left to do. */
const caughtUp = {
  ...{ isStarted: true, finale: undefined, pages: 1, trouble: undefined },
  ...{ walkPrint: undefined, isBusy: false },
};

test.each([
  ['the first walk has begun', { isStarted: false }],
  ['its rows are printed', { walkPrint: {} }],
  ['the output has them', { isBusy: true }],
])('with --no-follow, the end of a tail does not come before %s', (_, waiting) => {
  const state = { ...caughtUp, ...waiting };
  const end = new TailEnd({
    clock: virtualClock(),
    options: { noFollow: true },
    timing: { closingMs: 5_000 },
    walker: Object.assign(state, { reader: state }),
    printer: state,
    session: { close: () => {} },
    output: { settle: () => state.isBusy },
    trouble: undefined,
    notify: () => {},
  });
  end.begin();
  end.step();
  expect(end.ended).toBeUndefined();
  Object.assign(state, caughtUp);
  end.step();
  expect(end.ended).toEqual({ reason: 'caughtUp', failure: undefined });
});
