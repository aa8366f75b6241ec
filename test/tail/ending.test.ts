import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { outputClosed } from '../../src/output/sink.ts';
import { Ending } from '../../src/tail/ending.ts';
import { type StoreNotice, StoreProgress } from '../../src/tail/stored/store-progress.ts';
import { virtualClock } from '../core/virtual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const full = new Failure('local', 'the disk is full', { code: 'DISK_FULL' });

describe('the end of a run that reads', () => {
  test.each<[string, (person: AbortController, closed: AbortController) => void, unknown]>([
    ['a person', (person) => person.abort(), undefined],
    ['a reader that leaves', (_, closed) => closed.abort(outputClosed), undefined],
    ['a write that fails', (_, closed) => closed.abort(full), full],
  ])('can be caused by %s', (_, act, failure) => {
    const person = new AbortController();
    const closed = new AbortController();
    const ending = new Ending(person.signal, closed.signal);
    expect(ending.signal.aborted).toBe(false);
    act(person, closed);
    expect(ending.signal.aborted).toBe(true);
    expect(ending.hasReader).toBe(!closed.signal.aborted);
    if (failure === undefined) expect(() => ending.check()).not.toThrow();
    else expect(() => ending.check()).toThrow(full);
  });

  test('throws the first failure', () => {
    const ending = new Ending(new AbortController().signal);
    ending.fail(full);
    ending.fail(new Error('later'));
    expect(ending.signal.aborted).toBe(true);
    expect(ending.hasFailed).toBe(true);
    expect(() => ending.check()).toThrow(full);
  });

  test('is not a failure of the output after a signal', () => {
    const person = new AbortController();
    const closed = new AbortController();
    const ending = new Ending(person.signal, closed.signal);
    person.abort();
    closed.abort(full);
    expect(() => ending.check()).not.toThrow();
  });

  test('comes after the duration', async () => {
    const clock = virtualClock(NOW);
    const ending = new Ending(new AbortController().signal);
    ending.stopAfter(1_000, clock);
    await clock.sleep(1_001);
    expect(ending.signal.aborted).toBe(true);
    expect(ending.hasFailed).toBe(false);
  });
});

describe('the progress of a run that reads from the store', () => {
  function open() {
    const notices: StoreNotice[] = [];
    const progress = new StoreProgress(
      () => NOW,
      (notice) => notices.push(notice),
    );
    return { progress, notices };
  }

  test('counts a loss as missing only if the store has not found the feed again', () => {
    const { progress, notices } = open();
    const last = { id: 'a', at: NOW };
    progress.lost(last);
    progress.note({ kind: 'found' });
    progress.end();
    expect(progress.missing).toEqual([]);
    progress.lost(last);
    progress.end();
    expect(progress.missing).toEqual([{ kind: 'lost', last }]);
    expect(notices.map(({ kind }) => kind)).toEqual(['lost', 'found', 'lost']);
  });

  test('replaces a loss by the gap that it turns out to be', () => {
    const { progress } = open();
    progress.lost(null);
    progress.note({ kind: 'gap' });
    progress.gap({ from: null, to: { id: 'b', at: NOW } });
    progress.end();
    expect(progress.missing.map(({ kind }) => kind)).toEqual(['gap']);
  });

  test('reports events that say everything, and no others', () => {
    const { progress, notices } = open();
    progress.note({ kind: 'live' });
    progress.note({ kind: 'rows' });
    progress.note({ kind: 'away', why: 'gone' });
    expect(progress.isAway).toBe(true);
    progress.note({ kind: 'back' });
    expect(progress.isAway).toBe(false);
    expect(progress.isReady).toBe(true);
    expect(notices.map(({ kind }) => kind)).toEqual(['away', 'back']);
  });

  test('knows how late the newest post with a time was', () => {
    const { progress } = open();
    progress.delivered([
      { id: 'a', at: NOW - 500 },
      { id: 'b', at: null },
    ]);
    expect(progress.rows).toBe(2);
    expect(progress.lastPost).toEqual({ at: NOW - 500, lagMs: 500 });
  });
});
