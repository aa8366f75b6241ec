import { expect, test } from 'vitest';
import type { StreamRow } from '../../../src/store/feed/entry.ts';
import type { FollowEvent, Follower } from '../../../src/store/feed/follower.ts';
import type { FeedPosition } from '../../../src/store/feed/start.ts';
import { Ending } from '../../../src/tail/ending.ts';
import type { OutputPorts } from '../../../src/tail/ports.ts';
import type { Position } from '../../../src/tail/position.ts';
import { StoreFollower } from '../../../src/tail/stored/store-follower.ts';
import { StoreProgress } from '../../../src/tail/stored/store-progress.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { collecting } from '../fakes.ts';

const NOW = Date.UTC(2026, 0, 1);
const entryOf = (number: number): StreamRow => ({
  entry: `${NOW + number}-0`,
  id: `p${number}`,
  at: NOW + number,
  body: `{"id":"p${number}"}`,
  prev: `p${number - 1}`,
  verified: null,
});

/** The position of a reader that has delivered everything up to this entry. */
const placeAt = ({ entry, id, at }: StreamRow): FeedPosition => ({
  entry,
  last: { id, at },
  verified: null,
  known: [[id, NOW]],
});

/** A reader of the stream that yields these events, each of which has read up to its last row. */
class ScriptedStream implements Pick<Follower, 'events' | 'position'> {
  #place: FeedPosition | undefined;
  readonly #events: readonly FollowEvent[];

  constructor(events: readonly FollowEvent[]) {
    this.#events = events;
  }

  async *events(): AsyncGenerator<FollowEvent, void, void> {
    for (const [at, event] of this.#events.entries()) {
      if (event.kind === 'begun') this.#place = placeAt(entryOf(0));
      // The end of an outage is reported when the next rows were read.
      const read = event.kind === 'back' ? this.#events[at + 1] : event;
      const last = read?.kind === 'rows' ? read.rows.at(-1) : undefined;
      if (last) this.#place = placeAt(last);
      yield event;
    }
  }

  position(): FeedPosition | undefined {
    return this.#place;
  }
}

interface Asked {
  readonly output?: Partial<OutputPorts>;
  readonly count?: number;
  readonly noFollow?: boolean;
}

/** Runs a follower over these events; `log` has what it wrote and saved, in order. */
async function follow(events: readonly FollowEvent[], { output, count, noFollow }: Asked = {}) {
  const { ids: log, writer } = collecting();
  const saved: Position[] = [];
  const clock = virtualClock(NOW);
  const progress = new StoreProgress(clock.now, () => {});
  const follower = new StoreFollower(
    {
      clock,
      stream: new ScriptedStream(events),
      output: {
        writer,
        async save(position) {
          const { last } = Object(position.stream);
          log.push(`save ${last.id}`);
          saved.push(position);
        },
        ...output,
      },
      progress,
      ending: new Ending(new AbortController().signal),
      filling: undefined,
    },
    {
      feed: 'f',
      feedId: 'all',
      leaderFeed: 'f',
      position: undefined,
      begin: { kind: 'now' },
      filter: () => true,
      count,
      noFollow,
    },
  );
  await follower.run();
  return { log, saved, progress };
}

const begun: FollowEvent = { kind: 'begun', times: [NOW] };
/** What was written, without the positions. */
const rowsIn = (log: readonly string[]) => log.filter((word) => !word.startsWith('save '));
const rows = (...numbers: number[]): FollowEvent => ({ kind: 'rows', rows: numbers.map(entryOf) });

test('a follower saves its start before it writes a row', async () => {
  const { log } = await follow([begun, rows(1, 2)]);
  expect(log[0]).toBe('save p0');
  expect(rowsIn(log)).toEqual(['p1', 'p2']);
});

test('a follower saves no position after rows that it has not delivered, even if an outage ends', async () => {
  const { log } = await follow([begun, rows(1), { kind: 'back' }, rows(2, 3)]);
  for (const [at, word] of log.entries()) {
    const saved = word.startsWith('save ') ? word.slice('save '.length) : 'p0';
    if (saved !== 'p0') expect(log.slice(0, at)).toContain(saved);
  }
  expect(log).toContain('save p3');
});

test('a follower ends at --count, and a later run continues with the next post', async () => {
  const { log, saved } = await follow([begun, rows(1, 2, 3), rows(4)], { count: 2 });
  expect(rowsIn(log)).toEqual(['p1', 'p2']);
  expect(saved.at(-1)?.stream).toMatchObject({ entry: `${NOW + 2}-0` });
});

test('a follower ends at the end of the stream with --no-follow', async () => {
  const { log } = await follow([begun, rows(1), { kind: 'live' }, rows(2)], { noFollow: true });
  expect(rowsIn(log)).toEqual(['p1']);
});

test('a follower with --no-follow fails if the store is not reachable', async () => {
  const away: FollowEvent = { kind: 'away', why: 'the store does not answer' };
  await expect(follow([away], { noFollow: true })).rejects.toThrow('the store does not answer');
});

test('a follower whose reader has left saves no position after the rows that it did not receive', async () => {
  const writer = { write: () => false, flush: async () => false };
  const { saved, progress } = await follow([begun, rows(1), rows(2)], { output: { writer } });
  expect(saved).toEqual([]);
  expect(progress.rows).toBe(0);
});

test('a follower fails if a position cannot be saved', async () => {
  const save = () => Promise.reject(new Error('the disk is broken'));
  await expect(follow([begun, rows(1)], { output: { save } })).rejects.toThrow(
    'the disk is broken',
  );
});

test('a gap without a start is reported, and cannot be filled', async () => {
  const to = { id: 'p5', at: NOW + 5 };
  const { progress } = await follow([
    begun,
    { kind: 'gap', from: null, to, ahead: [] },
    { kind: 'gap', from: { id: '', at: NOW }, to, ahead: [] },
  ]);
  expect(progress.missing).toEqual([
    { kind: 'gap', from: null, to, isFillable: false },
    { kind: 'gap', from: { id: '', at: NOW }, to, isFillable: true },
  ]);
});
