import type { Clock } from '../../../src/base/clock.ts';
import type { PageSource } from '../../../src/core/pages/source.ts';
import type { StoreConnection } from '../../../src/store/connection.ts';
import { Follower, type GapEvent } from '../../../src/store/feed/follower.ts';
import { feedIdOf, keysOf } from '../../../src/store/keys.ts';
import { Ending } from '../../../src/tail/ending.ts';
import type { KnownState } from '../../../src/tail/known-posts.ts';
import type { Writer } from '../../../src/tail/ports.ts';
import {
  continueAfter,
  type Position,
  positionText,
  readPosition,
} from '../../../src/tail/position.ts';
import type { PostMark } from '../../../src/tail/post-row.ts';
import { GapFilling } from '../../../src/tail/stored/fill-gap.ts';
import { StoreFollower } from '../../../src/tail/stored/store-follower.ts';
import { StoreProgress } from '../../../src/tail/stored/store-progress.ts';
import { beginAfter } from '../../../src/tail/stored/stream-place.ts';
import { timing } from '../../../src/tail/timing.ts';
import type { StoreClient } from './server.ts';

export const BASE = 'https://api.example.test';
export const storeKeys = keysOf({ baseUrl: BASE, key: 'k' });
const feedId = feedIdOf({ tokens: [] });
export const storedFeed = storeKeys.feed(feedId);
const feedName = `sim of ${BASE}`;

/** How long rows that were accepted may be on their way into the file. */
const WRITE_MS = 2_000;

/** A change that removes a safeguard of a follower. */
export interface FollowerMutation {
  /** Whether followers claim what the leader has verified, whether they have read it or not. */
  readonly claimsAll?: boolean;
  /** Whether followers forget the lines behind their position. */
  readonly ignoresLines?: boolean;
  /** Whether followers save a position while its rows are on their way into the file. */
  readonly doesNotFlush?: boolean;
}

/** What the certificate of a follower stated when its process ended, and how many rows its file had. */
interface Claim {
  readonly claims: KnownState;
  readonly rows: number;
}

/** What a follower delivered and reported, and when, over all its processes: the file that it writes. */
export class FollowedRows {
  readonly rows: { readonly id: string; readonly postedAt: number | null; readonly at: number }[] =
    [];
  readonly gaps: (Pick<GapEvent, 'from' | 'to'> & { readonly at: number })[] = [];
  /** Whether it fetches the posts of gaps from the service. */
  readonly fills: boolean;
  /** The ids that were in the stream before it began. */
  earlier: readonly string[] = [];
  /** Its certificate at the end of each process. */
  readonly claims: Claim[] = [];
  #saved: string | undefined;

  constructor(fills: boolean) {
    this.fills = fills;
  }

  save(position: Position): void {
    this.#saved = positionText(position);
  }

  /** Called when a process has ended or was killed. */
  ended(): void {
    if (this.#saved === undefined) return;
    this.claims.push({ claims: readPosition(this.#saved, feedName), rows: this.rows.length });
  }

  /** Where the next process continues: after the position and the lines behind it. */
  resume({ ignoresLines = false }: FollowerMutation): Position | undefined {
    const saved = this.#saved === undefined ? undefined : readPosition(this.#saved, feedName);
    if (saved && ignoresLines) return saved;
    const lines = this.rows.slice(saved?.file?.offset ?? 0);
    const marks = lines.map(({ id, postedAt }) => ({ id, at: postedAt }));
    return continueAfter(saved, marks, feedName, timing.latenessMs);
  }
}

/** Writes rows to a file some time after they were accepted. A kill loses those that are not there yet. */
class DelayedWriter implements Writer {
  #accepted: PostMark[] = [];
  #waiting: (() => void)[] = [];
  #isDue = false;
  readonly #file: FollowedRows;
  readonly #process: StoreClient;
  readonly #mutation: FollowerMutation;

  constructor(file: FollowedRows, process: StoreClient, mutation: FollowerMutation) {
    this.#file = file;
    this.#process = process;
    this.#mutation = mutation;
  }

  write(rows: readonly PostMark[]): boolean {
    this.#accepted.push(...rows);
    if (!this.#isDue) {
      this.#isDue = true;
      this.#process.at(this.#process.now + WRITE_MS, () => this.#arrive());
    }
    return true;
  }

  flush(): Promise<boolean> {
    if (!this.#isDue || this.#mutation.doesNotFlush) return Promise.resolve(true);
    return new Promise((resolve) => this.#waiting.push(() => resolve(true)));
  }

  place() {
    return { dev: '1', ino: '1', offset: this.#file.rows.length };
  }

  #arrive(): void {
    this.#isDue = false;
    const at = this.#process.now;
    for (const { id, at: postedAt } of this.#accepted) this.#file.rows.push({ id, postedAt, at });
    this.#accepted = [];
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

interface FollowingWorld {
  readonly clock: Clock;
  readonly open: () => Promise<StoreConnection>;
  readonly source: Omit<PageSource, 'stepCu'>;
  readonly signal: AbortSignal;
  /** The ids that are in the stream now. */
  readonly stream: () => readonly string[];
  readonly mutation: FollowerMutation;
}

/** Runs one process of a follower, which continues its file. */
export async function runFollower(
  file: FollowedRows,
  process: StoreClient,
  { clock, open, source, signal, stream, mutation }: FollowingWorld,
): Promise<void> {
  const position = file.resume(mutation);
  const begin = position ? beginAfter(position, feedId) : ({ kind: 'now' } as const);
  const reader = new Follower({ feed: storedFeed, begin, open, clock, marks: true });
  /** Notes what the follower learns, before it can do anything about it. */
  const noted: Pick<Follower, 'events' | 'position'> = {
    position: () => reader.position(),
    async *events(until) {
      for await (const event of reader.events(until)) {
        if (event.kind === 'begun' && position === undefined) file.earlier = stream();
        if (event.kind === 'gap')
          file.gaps.push({ from: event.from, to: event.to, at: process.now });
        yield event.kind === 'mark' && mutation.claimsAll
          ? { ...event, isAfterHole: false }
          : event;
      }
    },
  };
  const output = {
    writer: new DelayedWriter(file, process, mutation),
    async save(taken: Position) {
      if (process.alive()) file.save(taken);
    },
  };
  const filling = file.fills ? new GapFilling({ ...source, stepCu: 200 }, clock) : undefined;
  const follower = new StoreFollower(
    {
      clock,
      stream: noted,
      output,
      progress: new StoreProgress(clock.now, () => {}),
      ending: new Ending(signal),
      filling,
    },
    { feed: feedName, feedId, leaderFeed: feedName, position, begin, filter: () => true },
  );
  await follower.run();
}
