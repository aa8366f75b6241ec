import { Failure } from '../../base/failure.ts';
import { jsonLine, lineOf } from '../../output/format/ndjson.ts';
import { noteBudgets } from '../../store/budgets.ts';
import type { StoreConnection } from '../../store/connection.ts';
import { isStoreFailure, unusable } from '../../store/failures.ts';
import {
  type FeedState,
  openTerm,
  type Post,
  type RelayMemory,
  type RelayTerm,
  readFeedState,
} from '../../store/feed/leader-term.ts';
import { feedIdOf } from '../../store/keys.ts';
import { Tail } from '../../tail/engine.ts';
import { feedOf } from '../../tail/file/position-file.ts';
import { openSpool } from '../../tail/file/spool.ts';
import type { StartPoint, TailOptions, TailPorts } from '../../tail/ports.ts';
import { continueAfter, type Position, positionText, readPosition } from '../../tail/position.ts';
import type { TailRow } from '../../tail/post-row.ts';
import { timing } from '../../tail/timing.ts';
import type { Io } from '../io.ts';
import type { RunStore } from '../run/open-store.ts';
import type { Out } from '../run/out.ts';
import type { Service } from '../run/service.ts';
import type { Terminal } from '../run/terminal.ts';
import { createNoticeLines } from '../tail/notice-text.ts';
import { RelayState } from './watch-relay.ts';

interface RelayPlan extends Omit<TailOptions, 'start' | 'on' | 'firstTries'> {
  readonly tokens: readonly string[];
  readonly keepMs: number;
  readonly keepRows: number;
}

interface RelayWorld
  extends Pick<Terminal, 'signal' | 'notice'>,
    Pick<Service, 'scope'>,
    Pick<Out, 'diskWait'>,
    Pick<TailPorts, 'source' | 'connect' | 'key' | 'limits' | 'left' | 'spent'> {
  readonly io: Pick<Io, 'clock' | 'random'>;
  readonly store: Pick<RunStore, 'keys' | 'machine'> & {
    readonly link: Pick<RunStore['link'], 'open' | 'binding'>;
    readonly memory: Pick<RunStore['memory'], 'read' | 'update' | 'readFeed' | 'saveFeed'>;
  };
  /** Adds the spending limit to the first line that a term prints. */
  readonly startLine: (text: string) => string;
}

const LOOK_MS = 1_000;
/** How often a relay on standby reads the state of the feed, in case the store loses it. */
const STATE_MS = 10_000;

/** Leads a feed whenever no other machine does, until the run ends or fails. */
export async function runRelay(
  world: RelayWorld,
  plan: RelayPlan,
  state = new RelayState(),
): Promise<void> {
  const { io, signal, notice, store } = world;
  const id = feedIdOf(plan);
  const memory: RelayMemory = { token: '', state: store.memory.readFeed(id) };
  let waiting = false;
  for (;;) {
    signal.throwIfAborted();
    let connection: StoreConnection | undefined;
    try {
      // Each term has its own connection.
      connection = await store.link.open();
      await connection.send('SADD', [store.keys.feeds, id]);
      // Report this only after a write, because a full server accepts connections but no writes.
      if (waiting) notice('the store is available again');
      waiting = false;
      const term = await standBy(world, connection, plan, state, memory);
      await lead(world, plan, term, state, memory);
      return;
    } catch (error) {
      if (signal.aborted || !unusable(error)) throw error;
      const isAway = !isStoreFailure(error, 'STORE_LEASE');
      if (!waiting) notice(`${error.message}${isAway ? '; waiting for the store' : ''}`);
      if (isAway) {
        waiting = true;
        state.phase = 'away';
      }
    } finally {
      connection?.close();
    }
    await io.clock.sleep(LOOK_MS * (0.5 + io.random()), signal);
  }
}

async function standBy(
  { io, signal, notice, store, scope }: RelayWorld,
  connection: StoreConnection,
  plan: RelayPlan,
  state: RelayState,
  memory: RelayMemory,
): Promise<RelayTerm> {
  const { keepMs, keepRows } = plan;
  const { clock } = io;
  const id = feedIdOf(plan);
  const feed = store.keys.feed(id);
  const describe = () => ({ machine: store.machine, ...(state.tail && describeTail(state.tail)) });
  let isReported = false;
  for (let stateAt = clock.mono(); ; isReported = true) {
    memory.state = usableState(memory.state, feedOf(plan.feed, { scope }), clock.now() - keepMs);
    // A relay on standby pays nothing, so it would not learn what limits it once it leads.
    await noteBudgets(connection, store);
    const term = await openTerm(connection, { feed, clock, keepMs, keepRows, describe, memory });
    if (term.leftMs === undefined) return term;
    if (clock.mono() >= stateAt) {
      const saved = await readFeedState(connection, feed);
      // A leader that has just begun saves its first position soon.
      if (saved.mark !== '') {
        memory.state = saved;
        store.memory.saveFeed(id, saved);
        stateAt = clock.mono() + STATE_MS;
      }
    }
    if (!isReported) {
      const name = await connection.send('HGET', [feed.info, 'machine']);
      const leader = typeof name === 'string' ? safeName(name) : 'another machine';
      notice(`standing by: ${leader} leads this feed`);
      state.standBy(leader);
    }
    await clock.sleep(Math.min(LOOK_MS, term.leftMs), signal);
  }
}

const safeName = (name: string) => name.replace(/[^\w.-]/g, '?').slice(0, 64);

async function lead(
  world: RelayWorld,
  plan: RelayPlan,
  term: RelayTerm,
  state: RelayState,
  memory: RelayMemory,
): Promise<void> {
  const { io, signal, notice, diskWait, startLine, store, scope } = world;
  const feed = feedOf(plan.feed, { scope });
  // With another API key, the feed has another leader.
  const { binding } = store.link;
  const over = AbortSignal.any([term.over, binding]);
  const start = resumeFrom(term, feed);
  notice(`leading this feed${leadText(start, term)}`);
  const linesOf = createNoticeLines(io.clock.mono);
  const tail = new Tail(
    {
      ...world,
      ...io,
      output: {
        writer: {
          async write(rows) {
            await term.publish(rows.map(postOf));
            return true;
          },
          // The store has received what was published.
          flush: async () => true,
        },
        async save(position) {
          await term.save(positionText(position), position.verified);
          if (memory.state) store.memory.saveFeed(feedIdOf(plan), memory.state);
        },
      },
      spool: () => openSpool(diskWait),
    },
    {
      ...plan,
      feed,
      start,
      // A relay that has read a page, or stood by, does not end because the first page of a term
      // fails.
      ...((state.past.pages > 0 || state.past.ready) && { firstTries: Number.POSITIVE_INFINITY }),
      on(event) {
        for (const line of linesOf(event)) notice(event.kind === 'start' ? startLine(line) : line);
      },
    },
  );
  state.begin(tail);
  try {
    const { reason } = await tail.run(AbortSignal.any([signal, over]));
    if (reason === 'stopped' && !signal.aborted) over.throwIfAborted();
    signal.throwIfAborted();
  } catch (error) {
    if (over.aborted && !signal.aborted) throw over.reason;
    throw error;
  } finally {
    state.end();
    await term.resign();
  }
}

function leadText({ kind }: StartPoint, { restored }: RelayTerm): string {
  if (kind === 'now') return ', starting with new posts';
  if (restored)
    return ', of which the store has nothing, and continuing where this machine remembers';
  return ', continuing where the previous leader stopped';
}

function describeTail(tail: Tail) {
  const { mode, gaps, spent, walkedAgoMs } = tail.status();
  return {
    mode: mode === 'waiting' ? 'polling' : mode,
    gaps,
    spent: spent.atMost,
    verifiedAgo: walkedAgoMs === null ? '' : Math.round(walkedAgoMs),
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
 * Undefined if it is damaged, or was last verified before `since`: the store would keep no posts of
 * that age.
 */
function usableState(
  state: FeedState | undefined,
  feed: string,
  since: number,
): FeedState | undefined {
  if (state === undefined) return undefined;
  try {
    const { verified } = readPosition(state.mark, feed);
    return verified !== null && verified < since ? undefined : state;
  } catch {
    return undefined;
  }
}

/** After the position of the previous leader, otherwise after the posts in the store. */
function resumeFrom(
  { mark, published }: Pick<RelayTerm, 'mark' | 'published'>,
  feed: string,
): StartPoint {
  const saved = mark === undefined ? undefined : positionOf(mark, feed);
  const position = continueAfter(saved, published, feed, timing.latenessMs);
  return position ? { kind: 'position', position } : { kind: 'now' };
}
