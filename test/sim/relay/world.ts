import { Failure } from '../../../src/base/failure.ts';
import { runRelay } from '../../../src/cli/store/relay.ts';
import { Spend } from '../../../src/core/spend/spend.ts';
import type { StoreConnection } from '../../../src/store/connection.ts';
import { createFollower, type FollowEvent } from '../../../src/store/feed/follower.ts';
import type { FeedState } from '../../../src/store/feed/leader-term.ts';
import type { Begin } from '../../../src/store/feed/start.ts';
import { feedIdOf, keysOf } from '../../../src/store/keys.ts';
import { KnownPosts, type KnownState } from '../../../src/tail/known.ts';
import { readPosition } from '../../../src/tail/position.ts';
import { nthNewest, type PostMark } from '../../../src/tail/post-row.ts';
import { claim, rememberPosts, startAt } from '../../../src/tail/stored/coverage.ts';
import { afterFilled, createFilling } from '../../../src/tail/stored/fill-gap.ts';
import { noWait } from '../../no-wait.ts';
import { calmMs, EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import { clockOn, createScheduler, runUntil, type Scheduler } from '../scheduler.ts';
import { type Access, createService, type Service } from '../service.ts';
import { LONG_AUDIT_MS } from '../world.ts';
import type { RelaySchedule } from './schedule.ts';
import { createStore, type Rewrite, type StoreClient, type StoreModel } from './server.ts';

const nothingSpent = { cu: 0, atMost: 0, calls: 0 };

/** A change that removes a safeguard of the relay; tests must detect it. */
export interface RelayMutation {
  readonly script?: Rewrite;
  /** Changes how a relay sees the store; `open` opens another connection. */
  readonly relay?: (
    store: StoreConnection,
    open: () => Promise<StoreConnection>,
    scheduler: Scheduler,
  ) => StoreConnection;
  /** `number` identifies the follower across its connections. */
  readonly follower?: (store: StoreConnection, number: number) => StoreConnection;
  /** Whether relays read nothing that they have saved. */
  readonly forgets?: boolean;
  /** Whether followers claim what the leader has verified, whether they have read it or not. */
  readonly claimsAll?: boolean;
}

type Gap = Extract<FollowEvent, { kind: 'gap' }>;

/** What a follower delivered and reported, and when, over all its processes. */
export interface Delivered {
  readonly rows: { readonly id: string; readonly at: number }[];
  readonly gaps: (Pick<Gap, 'from' | 'to'> & { readonly at: number })[];
  /** Whether it fetches the posts of gaps from the service. */
  readonly fills: boolean;
  /** What its certificate states. */
  claims: KnownState | undefined;
  /** The ids that were in the stream before it began. */
  earlier: readonly string[];
}

export interface RelayOutcome {
  readonly schedule: RelaySchedule;
  readonly service: Service;
  readonly store: StoreModel;
  readonly followers: readonly Delivered[];
  /** The first page that any relay received. */
  readonly first: () => Access['first'];
  readonly endsAt: number;
  readonly problems: string[];
}

const BASE = 'https://api.example.test';
const keys = keysOf({ baseUrl: BASE, key: 'k' });
const feed = keys.feed(feedIdOf({ tokens: [] }));
const RESTART_MS = 2_000;

/** Ids in the stream of a store, in its order. */
export const streamOf = ({ data }: Pick<StoreModel, 'data'>): string[] =>
  data.entries(feed.stream).map(({ fields }) => fields[fields.indexOf('id') + 1] ?? '');

/** Runs a schedule; throws if it does not end. */
export async function runRelaySchedule(
  schedule: RelaySchedule,
  mutation: RelayMutation = {},
): Promise<RelayOutcome> {
  const scheduler = createScheduler();
  const store = createStore(schedule, scheduler, mutation.script);
  const service = createService(schedule.service, scheduler);
  const endsAt = schedule.service.busyMs + 30_000 + calmMs(schedule.service);
  const problems: string[] = [];
  let first: Access['first'];
  const end = new AbortController();
  scheduler.at(endsAt, () => end.abort());

  /** The callbacks of a process. They do not run while it is paused or after it was killed. */
  const processOn = (number: number, alive: () => boolean): StoreClient => {
    const pauses = schedule.blows.filter(
      (blow) => blow.process === number && blow.kind === 'pause',
    );
    const at: Scheduler['at'] = (time, act) => {
      let undo = () => {};
      const wait = (when: number) => {
        undo = scheduler.at(when, () => {
          const pause = pauses.find(({ from, to }) => from <= scheduler.now && scheduler.now < to);
          if (pause) wait(pause.to);
          else if (alive()) act();
        });
      };
      wait(time);
      return () => undo();
    };
    return {
      ...{ number, alive, at },
      step: scheduler.step,
      get now() {
        return scheduler.now;
      },
    };
  };

  /** Restarts a process after each kill, until the end of the run. */
  const supervise = async (
    number: number,
    live: (process: StoreClient, life: number) => Promise<void>,
  ) => {
    for (let life = 0; !end.signal.aborted; life++) {
      let alive = true;
      const killed = new Promise<void>((resolve) => {
        for (const { kind, process, from } of schedule.blows) {
          if (kind !== 'kill' || process !== number || from <= scheduler.now) continue;
          scheduler.at(from, () => {
            alive = false;
            resolve();
          });
        }
      });
      const lived = live(
        processOn(number, () => alive),
        life,
      ).catch((error: unknown) => {
        const expected = error instanceof Failure || end.signal.aborted;
        if (!expected) throw error;
        if (!end.signal.aborted) problems.push(`process ${number} failed: ${error}`);
      });
      await Promise.race([lived, killed]);
      await new Promise<void>((resolve) => void scheduler.at(scheduler.now + RESTART_MS, resolve));
    }
  };

  const saved = new Map<number, FeedState>();
  const memoryOf = (number: number) => ({
    readFeed: () => (mutation.forgets === true ? undefined : saved.get(number)),
    saveFeed(_: string, state: FeedState) {
      if (!schedule.forgetful) saved.set(number, state);
    },
  });

  const relay = (number: number) =>
    supervise(number, async (process, life) => {
      const rng = rngOf(schedule.seed, 50 + number + 10 * life);
      // All processes use the same service; only faults of single processes differ.
      const access = createService(schedule.service, process).access(process.alive, () => {});
      const { left } = new Spend({}, { acquire: async () => {} }, undefined);
      const connect = () => store.open(process);
      const open = async () => {
        const connection = await connect();
        return mutation.relay?.(connection, connect, process) ?? connection;
      };
      await runRelay(
        {
          io: { clock: clockOn(process, () => 1_700_000_000_000, process.alive), random: rng.next },
          signal: end.signal,
          notice: () => {},
          diskWait: noWait,
          scope: { baseUrl: BASE, key: async () => 'k' },
          store: { link: { open }, keys, machine: `m${number}`, memory: memoryOf(number) },
          left,
          key: access.key(left),
          startLine: (line) => line,
          spent: () => nothingSpent,
          source: {
            ...access.source,
            stepCu: 200,
            async page(ask, signal) {
              const page = await access.source.page(ask, signal);
              first ??= access.first;
              return page;
            },
          },
          connect: schedule.service.via === 'poll' ? undefined : access.connect,
        },
        {
          ...{ tokens: [], keepMs: 1e9, keepRows: 1e9, lagMs: schedule.service.lagMs },
          ...{ via: schedule.service.via, feed: 'sim', socketShare: 1 },
          timing: { longAuditMs: LONG_AUDIT_MS },
        },
      );
    });

  const followers: Delivered[] = [];
  const follow = (number: number) => {
    const fills = number % 2 === 0;
    const delivered: Delivered = { rows: [], gaps: [], fills, claims: undefined, earlier: [] };
    followers.push(delivered);
    let begin: Begin = { kind: 'now' };
    return supervise(number, async (process) => {
      const clock = clockOn(process, () => EPOCH, process.alive);
      const follower = createFollower({
        feed,
        begin,
        open: async () => {
          const connection = await store.open(process);
          return mutation.follower?.(connection, number) ?? connection;
        },
        clock,
        marks: true,
      });
      const isNew = begin.kind === 'now';
      const known = new KnownPosts(delivered.claims);
      const { source } = createService(schedule.service, process).access(process.alive, () => {});
      const filling = createFilling({ ...source, stepCu: 200 }, { affords: () => true }, clock);
      for await (const event of follower.events(end.signal)) {
        // A follower saves its rows and its position together, as a follower with a file does.
        const at = scheduler.now;
        const deliver = (rows: readonly PostMark[]) => {
          delivered.rows.push(...rows.map(({ id }) => ({ id, at })));
          rememberPosts(known, rows);
        };
        if (event.kind === 'begun' && isNew) {
          delivered.earlier = streamOf(store);
          startAt(known, nthNewest(event.times, 2));
        }
        if (event.kind === 'mark')
          claim(
            known,
            readPosition(event.mark, `sim of ${BASE}`),
            event.isAfterHole && mutation.claimsAll !== true,
          );
        if (event.kind === 'rows') deliver(event.rows.filter(({ id }) => !filling.has(id)));
        let position = follower.position();
        if (event.kind === 'gap') {
          delivered.gaps.push({ from: event.from, to: event.to, at });
          if (delivered.fills && event.from && position) {
            const rows = await filling.rows(event, event.from, position, end.signal);
            // The process may have been killed meanwhile.
            if (!process.alive()) return;
            deliver(rows);
            position = afterFilled(position, rows);
          }
        }
        if (!position) continue;
        begin = { kind: 'position', position };
        delivered.claims = known.state;
      }
    });
  };

  const { relays } = schedule;
  const all = [
    ...Array.from({ length: relays }, (_, number) => relay(number)),
    ...Array.from({ length: schedule.followers }, (_, at) => follow(relays + at)),
  ];
  await runUntil(
    scheduler,
    Promise.all(all).then(() => {}),
  );
  return { schedule, service, store, followers, endsAt, problems, first: () => first };
}
