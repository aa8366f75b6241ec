import type { Clock } from '../../src/base/clock.ts';

/** An event at a virtual time. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/** How many cancelled events may stay in the queue. */
const MOST_GONE = 1_000;

export interface Scheduler {
  readonly now: number;
  /** Runs `act` at a time; returns a function that cancels it. */
  at(time: number, act: () => void): () => void;
  /** Runs the next event; false if there are no events. */
  step(): boolean;
}

/** A heap of events; events of the same time run in the order of creation. */
export function createScheduler(): Scheduler {
  const heap: Event[] = [];
  const gone = new Set<Event>();
  let now = 0;
  let order = 0;
  const before = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (event: Event) => {
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const up = (i - 1) >> 1;
      const parent = heap[up];
      if (!parent || !before(event, parent)) break;
      heap[i] = parent;
      i = up;
    }
    heap[i] = event;
  };

  /** Removes cancelled events: those in the distant future would accumulate in a long run. */
  const sweep = () => {
    const left = heap.filter((event) => !gone.has(event));
    gone.clear();
    heap.length = 0;
    for (const event of left) push(event);
  };

  const pop = (): Event | undefined => {
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      let below = heap[child];
      if (!below) break;
      const right = heap[child + 1];
      if (right && before(right, below)) {
        child++;
        below = right;
      }
      if (!before(below, last)) break;
      heap[i] = below;
      i = child;
    }
    heap[i] = last;
    return first;
  };

  return {
    get now() {
      return now;
    },
    at(time, act) {
      const event = { at: Math.max(time, now), order: order++, act };
      push(event);
      return () => {
        gone.add(event);
        if (gone.size > MOST_GONE && 2 * gone.size > heap.length) sweep();
      };
    },
    step() {
      for (let event = pop(); event; event = pop()) {
        if (gone.delete(event)) continue;
        now = event.at;
        event.act();
        return true;
      }
      return false;
    },
  };
}

/** The virtual clock of one process, with the number of its pending waits. */
export interface ProcessClock extends Clock {
  readonly waits: number;
}

/** `skew` is the error of the wall clock; waits of a process that is no longer `alive` never end. */
export function clockOn(
  scheduler: Scheduler,
  skew: () => number,
  alive = () => true,
): ProcessClock {
  let waits = 0;
  return {
    get waits() {
      return waits;
    },
    now: () => scheduler.now + skew(),
    mono: () => scheduler.now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        waits++;
        const settle = (how: () => void) => {
          signal?.removeEventListener('abort', abort);
          waits--;
          if (alive()) how();
        };
        const abort = () => {
          undo();
          settle(() => reject(signal?.reason));
        };
        const undo = scheduler.at(scheduler.now + ms, () => settle(resolve));
        signal?.addEventListener('abort', abort);
      });
    },
  };
}

/** With so many events, a simulation does not end. */
const MOST_EVENTS = 400_000;

/**
 * Runs events until `work` has ended. Before each event, everything that follows from the one before happens; while work on
 * real files is `pending`, virtual time stands still.
 */
export async function runUntil(
  scheduler: Scheduler,
  work: Promise<void>,
  pending?: () => boolean,
): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  await new Promise(setImmediate);
  for (let events = 0; ; events++) {
    // A tick comes after all promises have settled, as an immediate does, but does not poll for I/O.
    do
      await new Promise<void>((resolve) =>
        (pending?.() ? setImmediate : process.nextTick)(resolve),
      );
    while (pending?.());
    if (isOver) return work;
    if (!pending && events > MOST_EVENTS) throw new Error('the simulation does not end');
    if (!scheduler.step()) throw new Error('deadlock: everything waits and no event is scheduled');
  }
}

/** Advances the clock, and waits for everything that happens in that time. */
export async function advanceTime(scheduler: Scheduler, ms: number): Promise<void> {
  let done = false;
  scheduler.at(scheduler.now + ms, () => {
    done = true;
  });
  do await new Promise(setImmediate);
  while (!done && scheduler.step());
  await new Promise(setImmediate);
}
