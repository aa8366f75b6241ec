import { Failure } from '../../base/failure.ts';
import { jsonLine, lineOf } from '../../output/format/ndjson.ts';
import type { StoreConnection } from '../../store/connection.ts';
import { interruptionText, isStoreFailure, unusable } from '../../store/failures.ts';
import { feedIdOf } from '../../store/feed/feed-id.ts';
import {
  type FeedState,
  type LeaderDescription,
  openTerm,
  type Post,
  type RelayMemory,
  type RelayTerm,
  readFeedState,
} from '../../store/feed/leader-term.ts';
import { createTail, type Tail } from '../../tail/engine.ts';
import type { Connect, PageSource, StartPoint, TailOptions, TailPorts, TailSink } from '../../tail/ports.ts';
import { continueAfter, type Position, positionText, readPosition } from '../../tail/position.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { timing } from '../../tail/timing.ts';
import type { Context } from '../context.ts';
import { createNoticeLines } from '../tail/notice-text.ts';
import { openSpool } from '../tail/spool.ts';
import type { RunStore } from './open-store.ts';

/** What a relay reads, and how long the store keeps the posts. */
interface RelayPlan {
  readonly tokens: readonly string[];
  readonly lagMs: number;
  readonly keepMs: number;
  readonly keepRows: number;
  readonly source: PageSource;
  readonly connect: Connect | undefined;
  readonly options: Omit<TailOptions, 'start' | 'lagMs' | 'on' | 'firstTries'>;
}

interface RelayWorld extends Pick<Context, 'signal' | 'notice' | 'scope' | 'diskWait'> {
  readonly io: Pick<Context['io'], 'clock' | 'random'>;
  readonly store: Pick<RunStore, 'keys' | 'machine'> & {
    readonly link: Pick<RunStore['link'], 'open'>;
    readonly memory: Pick<RunStore['memory'], 'readFeed' | 'saveFeed'>;
  };
  readonly key: TailPorts['key'];
  readonly left?: TailPorts['left'];
  readonly spent: TailPorts['spent'];
  /** Adds the spending limit to the first line that a term prints. */
  readonly startLine: (text: string) => string;
  readonly observer?: RelayObserver | undefined;
}

/** Functions that a relay calls when its state changes, for monitoring. */
export interface RelayObserver {
  /** Called when this machine waits because another machine leads the feed. */
  standby(leader: string): void;
  away(): void;
  /** Called when this machine begins to lead the feed with this tail. */
  leading(tail: Tail): void;
  ended(tail: Tail): void;
}

/** What a leader saves in the store with each renewal of the lease. */
interface Health {
  /** The tail whose state is saved; undefined until the term has started its tail. */
  tail: Tail | undefined;
  /** Whether an earlier term has read a page. Then this one does not end because its first page fails. */
  readonly answered: boolean;
}

const LOOK_MS = 1_000;
/** How often a relay on standby reads the state of the feed, in case the store loses it. */
const STATE_MS = 10_000;
const FIRST_TRIES = 2;

/** Leads a feed whenever no other machine does, until the run ends or fails. */
export async function runRelay(world: RelayWorld, plan: RelayPlan): Promise<void> {
  const { io, signal, notice, store } = world;
  const memory: RelayMemory = { token: '', state: store.memory.readFeed(feedIdOf(plan)) };
  let waiting = false;
  let answered = false;
  for (;;) {
    signal.throwIfAborted();
    let connection: StoreConnection | undefined;
    const health: Health = { tail: undefined, answered };
    try {
      // Each term has its own connection.
      connection = await store.link.open();
      await connection.send('SADD', [store.keys.feeds, feedIdOf(plan)]);
      // Report this only after a write, because a full server accepts connections but no writes.
      if (waiting) notice('the store is available again');
      waiting = false;
      const term = await standBy(world, connection, plan, health, memory);
      await lead(world, plan, term, health, memory);
      return;
    } catch (error) {
      if (signal.aborted || !unusable(error)) throw error;
      if (!waiting) notice(interruptionText(error));
      if (!isStoreFailure(error, 'STORE_LEASE')) {
        waiting = true;
        world.observer?.away();
      }
    } finally {
      connection?.close();
    }
    answered ||= health.tail !== undefined && health.tail.status().pages > 0;
    await io.clock.sleep(LOOK_MS * (0.5 + io.random()), signal);
  }
}

/** Waits until this machine can lead, and returns its term. */
async function standBy(
  world: RelayWorld,
  store: StoreConnection,
  plan: RelayPlan,
  health: Health,
  memory: RelayMemory,
): Promise<RelayTerm> {
  const {
    io,
    signal,
    notice,
    store: { keys, machine, memory: saved },
    observer,
  } = world;
  const { keepMs, keepRows } = plan;
  const feed = keys.feed(feedIdOf(plan));
  let isReported = false;
  let stateAt = io.clock.mono();
  const describe = () => ({ machine, ...(health.tail && describeTail(health.tail)) });
  for (;;) {
    memory.state = usableState(memory.state, nameOf(world, plan), io.clock.now() - keepMs);
    const term = await openTerm({ store, feed, clock: io.clock, keepMs, keepRows, describe, memory });
    if (!('leftMs' in term)) return term;
    if (io.clock.mono() >= stateAt) {
      const state = await readFeedState(store, feed);
      if (state.mark !== '') {
        memory.state = state;
        saved.saveFeed(feedIdOf(plan), state);
      }
      stateAt = io.clock.mono() + STATE_MS;
    }
    if (!isReported) {
      const name = await store.send('HGET', [feed.info, 'machine']);
      const leader = typeof name === 'string' ? safeName(name) : 'another machine';
      notice(`standing by: ${leader} leads this feed`);
      observer?.standby(leader);
    }
    isReported = true;
    await io.clock.sleep(Math.min(LOOK_MS, term.leftMs), signal);
  }
}

const safeName = (name: string) => name.replace(/[^\w.-]/g, '?').slice(0, 64);

const nameOf = ({ scope }: RelayWorld, { options }: RelayPlan) =>
  `${options.feed} of ${scope?.baseUrl ?? 'a service'}`;

async function lead(
  world: RelayWorld,
  plan: RelayPlan,
  term: RelayTerm,
  health: Health,
  memory: RelayMemory,
): Promise<void> {
  const { io, signal, notice, diskWait, startLine, store } = world;
  const name = nameOf(world, plan);
  const start = resumeFrom(term, name);
  notice(
    start.kind === 'now'
      ? 'leading this feed, starting with new posts'
      : term.restored
        ? 'leading this feed, which the store has lost, and continuing where this machine remembers'
        : 'leading this feed, continuing where the previous leader stopped',
  );
  const linesOf = createNoticeLines(io.clock.mono);
  const tail = createTail(
    {
      clock: io.clock,
      random: io.random,
      source: plan.source,
      connect: plan.connect,
      sink: relaySink(term),
      key: world.key,
      spool: () => openSpool(diskWait),
      left: world.left,
      spent: world.spent,
      async save(position) {
        await term.save(positionText(position), position.verified);
        if (memory.state) store.memory.saveFeed(feedIdOf(plan), memory.state);
      },
    },
    {
      ...plan.options,
      feed: name,
      start,
      lagMs: plan.lagMs,
      firstTries: health.answered ? Number.POSITIVE_INFINITY : FIRST_TRIES,
      on(event) {
        for (const line of linesOf(event)) notice(event.kind === 'start' ? startLine(line) : line);
      },
    },
  );
  health.tail = tail;
  world.observer?.leading(tail);
  try {
    const { reason } = await tail.run(AbortSignal.any([signal, term.over]));
    if (reason === 'stopped' && !signal.aborted) term.over.throwIfAborted();
    signal.throwIfAborted();
  } catch (error) {
    if (term.over.aborted && !signal.aborted) throw term.over.reason;
    throw error;
  } finally {
    world.observer?.ended(tail);
    await term.resign();
  }
}

function describeTail(tail: Tail): LeaderDescription {
  const { mode, gaps, spent, walkedAgoMs } = tail.status();
  return {
    mode: mode === 'waiting' ? 'polling' : mode,
    gaps,
    spent: spent.atMost,
    verifiedAgo: walkedAgoMs === null ? '' : Math.round(walkedAgoMs),
  };
}

/** The output of a relay, which publishes rows instead of printing them. */
function relaySink(term: RelayTerm): TailSink {
  return {
    async write(rows) {
      await term.publish(rows.map(postOf));
      return true;
    },
    flush: async () => true,
  };
}

const postOf = ({ id, at, raw, record }: TailRow): Post => ({
  id,
  at,
  body: raw === null ? jsonLine(record) : lineOf(raw),
});

/** Reads the position in the store. Another program may have overwritten it. */
function positionOf(mark: string, feed: string): Position {
  try {
    return readPosition(mark, feed);
  } catch (error) {
    throw new Failure('network', 'the position of this feed in the store is invalid', {
      code: 'STORE_UNFIT',
      hint: 'run "trdr store check", which names the store key to remove',
      cause: error,
    });
  }
}

/**
 * The state that a relay remembers; undefined if it is damaged, or if the feed was verified only up to a time before
 * `since`. The store would keep no posts of that age.
 */
function usableState(state: FeedState | undefined, feed: string, since: number): FeedState | undefined {
  if (state === undefined) return undefined;
  try {
    const { verified } = readPosition(state.mark, feed);
    return verified !== null && verified < since ? undefined : state;
  } catch {
    return undefined;
  }
}

/**
 * Where a leader starts: at the position of the previous leader, otherwise after the posts in the store,
 * otherwise with new posts.
 */
function resumeFrom({ mark, published }: Pick<RelayTerm, 'mark' | 'published'>, feed: string): StartPoint {
  const saved = mark === undefined ? undefined : positionOf(mark, feed);
  const position = continueAfter(saved, published, feed, timing.latenessMs);
  return position ? { kind: 'position', position } : { kind: 'now' };
}
