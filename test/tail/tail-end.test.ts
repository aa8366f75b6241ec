import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { TailNotice } from '../../src/tail/notice.ts';
import { TailEnd } from '../../src/tail/tail-end.ts';
import { virtualClock } from '../core/virtual-clock.ts';

const CLOSING_MS = 5_000;
const away = new Failure('network', 'the service is away', { code: 'UNREACHABLE' });

/** What the other parts of a tail know, which the test changes. */
interface State {
  isStarted: boolean;
  finale: 'wanted' | 'walking' | 'done' | undefined;
  pages: number;
  trouble: Failure | undefined;
  walkPrint: object | undefined;
  isBusy: boolean;
  closes: number;
}

function open(options: { durationMs?: number; noFollow?: boolean }, change: Partial<State> = {}) {
  const state: State = {
    isStarted: true,
    finale: undefined,
    pages: 1,
    trouble: undefined,
    walkPrint: undefined,
    isBusy: false,
    closes: 0,
    ...change,
  };
  const clock = virtualClock();
  const notices: TailNotice[] = [];
  const end = new TailEnd({
    clock,
    options,
    timing: { closingMs: CLOSING_MS },
    walker: Object.assign(state, { reader: state }),
    printer: state,
    session: { close: () => void state.closes++ },
    output: { settle: () => state.isBusy },
    trouble: undefined,
    notify: (notice) => notices.push(notice),
  });
  end.begin();
  return { end, state, clock, notices };
}

describe('the end of a tail', () => {
  test('without an end, never comes', async () => {
    const { end, clock } = open({});
    await clock.sleep(1e9);
    end.step();
    expect(end.ended).toBeUndefined();
    expect(end.leftMs).toBe(Number.POSITIVE_INFINITY);
  });

  test.each<[string, Partial<State>]>([
    ['the first walk has begun', { isStarted: false }],
    ['its rows are printed', { walkPrint: {} }],
    ['the output has them', { isBusy: true }],
  ])('with --no-follow, does not come before %s', (_, waiting) => {
    const { end, state } = open({ noFollow: true }, waiting);
    end.step();
    expect(end.ended).toBeUndefined();
    Object.assign(state, { isStarted: true, walkPrint: undefined, isBusy: false });
    end.step();
    expect(end.ended).toEqual({ reason: 'caughtUp', failure: undefined });
  });

  test('after its duration, closes the socket once and waits for a last walk', async () => {
    const { end, state, clock } = open({ durationMs: 1_000 });
    end.step();
    expect(state.closes).toBe(0);
    await clock.sleep(1_000);
    end.step();
    expect(state).toMatchObject({ closes: 1, finale: 'wanted' });
    expect(end.due).toBe(clock.mono() + CLOSING_MS);
    end.step();
    expect(state.closes).toBe(1);
    expect(end.ended).toBeUndefined();
    state.finale = 'done';
    state.walkPrint = {};
    end.step();
    expect(end.ended).toBeUndefined();
    state.walkPrint = undefined;
    end.step();
    expect(end.ended?.reason).toBe('duration');
  });

  test('says that the service fails, if the last walk was not done in time', async () => {
    const { end, state, clock } = open({ durationMs: 1_000 });
    await clock.sleep(1_000);
    end.step();
    state.trouble = away;
    await clock.sleep(CLOSING_MS);
    end.step();
    expect(end.ended).toEqual({ reason: 'failure', failure: away });
  });

  test('has the reason that came first, unless the shutdown fails', () => {
    const { end } = open({});
    end.finish('count');
    end.finish('stopped');
    expect(end.ended?.reason).toBe('count');
    end.failed(away);
    expect(end.ended).toEqual({ reason: 'failure', failure: away });
  });

  test('counts a gap only if no later run reads it', () => {
    const { end, notices } = open({});
    const gap = { why: { failure: 'away' }, from: 1, to: 2 };
    end.report({ ...gap, open: true });
    end.report({ ...gap, open: false });
    expect(end.gaps).toHaveLength(1);
    expect(notices).toHaveLength(2);
  });
});
