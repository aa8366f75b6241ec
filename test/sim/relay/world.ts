import { Failure } from '../../../src/base/failure.ts';
import { runRelay } from '../../../src/cli/store/relay.ts';
import { Spend } from '../../../src/core/spend/spend.ts';
import type { StoreConnection } from '../../../src/store/connection.ts';
import type { FeedState } from '../../../src/store/feed/leader-term.ts';
import { noWait } from '../../no-wait.ts';
import { calmMs, EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import { clockOn, createScheduler, runUntil, type Scheduler } from '../scheduler.ts';
import { type Access, createService, type Service } from '../service.ts';
import { LONG_AUDIT_MS } from '../world.ts';
import {
  BASE,
  FollowedRows,
  type FollowerMutation,
  runFollower,
  storedFeed,
  storeKeys,
} from './follower.ts';
import type { RelaySchedule } from './schedule.ts';
import { createStore, type Rewrite, type StoreClient, type StoreModel } from './server.ts';

const nothingSpent = { cu: 0, atMost: 0, calls: 0 };

/** A change that removes a safeguard of the relay; tests must detect it. */
export interface RelayMutation extends FollowerMutation {
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
}

export interface RelayOutcome {
  readonly schedule: RelaySchedule;
  readonly service: Service;
  readonly store: StoreModel;
  readonly followers: readonly FollowedRows[];
  /** The first page that any relay received. */
  readonly first: () => Access['first'];
  readonly endsAt: number;
  readonly problems: string[];
}

const RESTART_MS = 2_000;

/** Ids in the stream of a store, in its order. */
export const streamOf = ({ data }: Pick<StoreModel, 'data'>): string[] =>
  data.entries(storedFeed.stream).map(({ fields }) => fields[fields.indexOf('id') + 1] ?? '');

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
    ended = () => {},
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
      ended();
      await new Promise<void>((resolve) => void scheduler.at(scheduler.now + RESTART_MS, resolve));
    }
  };

  const saved = new Map<number, FeedState>();
  const memoryOf = (number: number) => ({
    read: () => ({ fleet: 1, budgets: {}, dayStart: undefined }),
    update() {},
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
          scope: { baseUrl: BASE, key: async () => () => 'k' },
          store: {
            link: { open, binding: new AbortController().signal },
            keys: storeKeys,
            machine: `m${number}`,
            memory: memoryOf(number),
          },
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

  const followers: FollowedRows[] = [];
  const follow = (number: number) => {
    const file = new FollowedRows(number % 2 === 0);
    followers.push(file);
    return supervise(
      number,
      async (process) => {
        const { source } = createService(schedule.service, process).access(process.alive, () => {});
        await runFollower(file, process, {
          clock: clockOn(process, () => EPOCH, process.alive),
          async open() {
            const connection = await store.open(process);
            return mutation.follower?.(connection, number) ?? connection;
          },
          source,
          signal: end.signal,
          stream: () => streamOf(store),
          mutation,
        });
      },
      () => file.ended(),
    );
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
