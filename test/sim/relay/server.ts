import type { StoreConnection } from '../../../src/store/connection.ts';
import { storeFailure } from '../../../src/store/failures.ts';
import type { RedisArgument, Script } from '../../../src/store/script.ts';
import { EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import type { Scheduler } from '../scheduler.ts';
import { createData, type Data } from './data.ts';
import { createScriptRunner, type Reply } from './lua.ts';
import type { RelaySchedule, StoreFault } from './schedule.ts';

/** The store as clients see it: one server, or two of them during a failover. */
export interface StoreModel {
  open(client: StoreClient): Promise<StoreConnection>;
  /** The data at the end of the run. */
  readonly data: Data;
  /** All data that the store has lost at once, and when. */
  readonly lost: readonly { readonly at: number; readonly data: Data }[];
  /** The tokens of all leases that were taken. */
  readonly tokens: readonly string[];
}

/** A process that uses the store. */
export interface StoreClient extends Scheduler {
  readonly number: number;
  readonly alive: () => boolean;
}

/** Changes a script of the store; tests must detect the change. */
export type Rewrite = (script: Script) => string;

/** As in the program, a connection ends if a response takes longer than this. */
const COMMAND_MS = 2_000;

export function createStore(
  schedule: RelaySchedule,
  scheduler: Scheduler,
  rewrite: Rewrite = (script) => script.text,
): StoreModel {
  const rng = rngOf(schedule.seed, 40);
  const tokens: string[] = [];
  let boots = 0;
  const now = () => scheduler.now;

  const serve = (clock: () => number, log: Data['log'] = []) => {
    const run = createScriptRunner((name, args) => server.data.command(name, args));
    const server = {
      ...{ clock, boot: `boot${boots++}`, data: createData(clock, log) },
      run: (...script: Parameters<typeof run>): Reply =>
        server.data.atomically(() => run(...script)),
      connections: new Set<(why: string) => void>(),
      waiting: new Set<() => void>(),
    };
    return server;
  };
  type Server = ReturnType<typeof serve>;
  const clockOf = (skew: number) => () => EPOCH + now() + skew;
  const until = (data: Data, ms: number) =>
    data.log.filter((writes) => (writes[0]?.at ?? 0) <= EPOCH + now() - ms);
  const hangUp = (server: Server) => {
    for (const end of [...server.connections]) end('the server went away');
  };

  let server = serve(clockOf(0));
  const lost: { at: number; data: Data }[] = [];
  /** The former primary, as long as some clients use it. */
  let former: Server | undefined;
  const active = (kind: StoreFault['kind']) =>
    schedule.faults.find((fault) => fault.kind === kind && fault.from <= now() && now() < fault.to);

  for (const fault of schedule.faults) {
    const { from, to, lostMs, empty } = fault;
    /** The writes that the next server knows. */
    const left = (ms: number) => {
      if (empty) lost.push({ at: now(), data: server.data });
      return empty ? [] : until(server.data, ms);
    };
    if (fault.kind === 'down') {
      scheduler.at(from, () => hangUp(server));
      scheduler.at(to, () => {
        server = serve(clockOf(0), left(to - from + lostMs));
      });
    }
    if (fault.kind === 'flush') {
      scheduler.at(from, () => {
        left(0);
        server.data = createData(server.clock);
      });
    }
    if (fault.kind === 'break') scheduler.at(from, () => hangUp(server));
    if (fault.kind === 'split') {
      scheduler.at(from, () => {
        former = server;
        server = serve(clockOf(fault.skewMs), left(lostMs));
        // Half of the clients notice the failover at once, the others later.
        for (const end of [...former.connections])
          if (rng.chance(0.5)) end('it is a replica, not a primary');
      });
      scheduler.at(to, () => {
        if (former) hangUp(former);
        former = undefined;
      });
    }
  }

  async function open({ at: later, alive, number }: StoreClient): Promise<StoreConnection> {
    await new Promise<void>((resolve) => void later(now() + rng.between(1, 20), resolve));
    if (active('down')) throw storeFailure('STORE_AWAY', 'the server is down');
    // While there are two primaries, clients with odd numbers use the former one.
    const mine = former && number % 2 === 1 ? former : server;
    const over = new AbortController();
    const end = (why: string) => {
      mine.connections.delete(end);
      if (!over.signal.aborted && alive()) over.abort(storeFailure('STORE_AWAY', why));
    };
    mine.connections.add(end);

    /** Sends a request. The server receives it and responds after some time. */
    const exchange = (
      limitMs: number,
      act: (reply: (value: Reply) => void) => void,
    ): Promise<Reply> =>
      new Promise((resolve, reject) => {
        if (over.signal.aborted) return reject(over.signal.reason);
        const settle = (how: () => void) => {
          over.signal.removeEventListener('abort', abort);
          undo();
          if (alive()) how();
        };
        const abort = () => settle(() => reject(over.signal.reason));
        over.signal.addEventListener('abort', abort);
        const undo = later(now() + limitMs, () => end('no answer'));
        const late = active('late');
        const delay = late && rng.chance(late.p) ? rng.between(500, 20_000) : rng.between(0.2, 3);
        // A request that was sent arrives, even if its sender does not wait for it any more.
        scheduler.at(now() + delay, () => {
          if (mine !== server && mine !== former) return;
          if (active('down')) return;
          const reply = (value: Reply) =>
            void later(now() + rng.between(0.2, 3), () => settle(() => resolve(value)));
          try {
            act(reply);
          } catch (error) {
            later(now() + 1, () => settle(() => reject(error)));
          }
        });
      });

    const read = (args: readonly string[], blockMs: number) =>
      exchange(COMMAND_MS + blockMs, (reply) => {
        const look = (): boolean => {
          const found = mine.data.command('XREAD', args);
          if (found === null) return false;
          mine.waiting.delete(look);
          reply(found);
          return true;
        };
        if (look()) return;
        mine.waiting.add(look);
        scheduler.at(now() + blockMs, () => {
          if (mine.waiting.delete(look)) reply(null);
        });
      });

    const send = (name: string, args: readonly RedisArgument[], blockMs = 0): Promise<Reply> => {
      const words = args.map(String);
      if (name === 'XREAD') return read(words, blockMs);
      return exchange(COMMAND_MS, (reply) => reply(mine.data.command(name, words)));
    };
    const facts: StoreConnection['server'] = {
      product: 'redis',
      version: '7.0.0',
      boot: mine.boot,
      role: 'master',
      mode: 'standalone',
      evicts: false,
    };
    return {
      server: facts,
      lost: over.signal,
      send,
      run: (script, keys, args) =>
        exchange(COMMAND_MS, (reply) => {
          if (active('full') && !script.text.startsWith('#!lua flags=allow-oom')) {
            throw storeFailure('STORE_FULL', 'the store is full');
          }
          const answer = mine.run(rewrite(script), keys, args.map(String));
          if (script.name === 'lead' && Array.isArray(answer) && answer[0] !== '')
            tokens.push(String(answer[0]));
          if (script.name === 'publish') for (const wake of [...mine.waiting]) wake();
          reply(answer);
        }),
      close: () => end('this process closed the connection'),
    };
  }

  return {
    open,
    get data() {
      return server.data;
    },
    lost,
    tokens,
  };
}
