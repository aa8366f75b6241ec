import type { StoreConnection } from '../../../src/store/connection.ts';
import { storeFailure } from '../../../src/store/failures.ts';
import type { Script } from '../../../src/store/script.ts';
import type { RelayMutation } from './world.ts';

// Each mutant removes one safeguard of the relay or of a follower, by rewriting a script of the store, or by
// changing how the connection behaves.

/** Rewrites a part of one script. */
const rewritten =
  (name: string, part: string, by: string) =>
  (script: Script): string => {
    if (script.name !== name) return script.text;
    if (!script.text.includes(part)) throw new Error(`the script ${name} has no ${part}`);
    return script.text.replace(part, by);
  };

/** A publish is accepted even if the sender has lost the lease. */
export const withoutFence: RelayMutation = {
  script: rewritten(
    'publish',
    "if redis.call('GET', lease) ~= token then return { 'fenced' } end",
    '',
  ),
};

/** The token of a lease consists only of its epoch. */
export const withoutNonce: RelayMutation = {
  script: rewritten('lead', " .. ':' .. nonce", " .. ''"),
};

/** A new leader does not read the end of the stream. */
export const withoutEnd: RelayMutation = {
  script: (script) => (script.name === 'listEntries' ? "#!lua\nreturn { '' }" : script.text),
};

/** A follower takes its last post for the time up to which it has read everything. */
export const withoutVerified: RelayMutation = {
  script: rewritten('publish', ", 'verified', verified", ''),
};

/** A follower does not notice that a feed was started over. */
export const withoutStart: RelayMutation = {
  script: rewritten('beginFeed', "'born:' .. token", "'born:'"),
};

/** A follower claims posts from before it began. */
export const claimsAll: RelayMutation = { claimsAll: true };

/** A follower that continues its file forgets the posts in the lines behind its position. */
export const forgetsLines: RelayMutation = { ignoresLines: true };

/** A follower saves a position before its rows are in the file. */
export const doesNotFlush: RelayMutation = { doesNotFlush: true };

/** The beginning of a feed has no name, so that a follower cannot recognize it. */
export const withoutBeginning: RelayMutation = {
  script: rewritten('beginFeed', "'born:' .. token", "''"),
};

const isPublish = (script: Script, args: readonly unknown[]) =>
  script.name === 'publish' && args.length > 6;

/** A post counts as published before the store has it. */
export const doesNotWait: RelayMutation = {
  relay: (store, _, process) => ({
    ...store,
    run(script, keys, args) {
      if (!isPublish(script, args)) return store.run(script, keys, args);
      process.at(process.now + 1_500, () => void store.run(script, keys, args).catch(() => {}));
      return Promise.resolve(['ok', '', '']);
    },
  }),
};

/** The connection reconnects silently. */
export const reconnects: RelayMutation = {
  relay(first, open, process) {
    let store: Promise<StoreConnection> | undefined = Promise.resolve(first);
    let closed = false;
    const lost = new AbortController();
    const retry = async <T>(work: (store: StoreConnection) => Promise<T>): Promise<T> => {
      for (;;) {
        if (closed) throw storeFailure('STORE_AWAY', 'closed');
        try {
          store ??= open();
          const current = await store;
          if (!current.lost.aborted) return await work(current);
        } catch (error) {
          if (closed || (error instanceof Error && error.message === 'the store is full'))
            throw error;
        }
        store = undefined;
        await new Promise<void>((resolve) => void process.at(process.now + 500, resolve));
      }
    };
    return {
      server: first.server,
      lost: lost.signal,
      run: (script, keys, args) => retry((one) => one.run(script, keys, args)),
      send: (name, args, ms) => retry((one) => one.send(name, args, ms)),
      close() {
        closed = true;
        void store?.then((one) => one.close());
      },
    };
  },
};

/** A relay starts an emptied feed over, at the newest post. */
export const forgets: RelayMutation = {
  forgets: true,
  relay: (store) => ({
    ...store,
    async run(script, keys, args) {
      const reply = await store.run(script, keys, args);
      return script.name === 'publish' && Array.isArray(reply) && reply.length > 2
        ? reply.with(2, '')
        : reply;
    },
  }),
};

/** A relay on standby does not read the position in the feed. */
export const ignoresFeed: RelayMutation = {
  relay: (store) => {
    let leads = false;
    return {
      ...store,
      async run(script, keys, args) {
        const reply = await store.run(script, keys, args);
        if (script.name === 'lead') leads = Array.isArray(reply) && reply[0] !== '';
        return reply;
      },
      send: (name, args, ms) =>
        name === 'GET' && !leads ? Promise.resolve('') : store.send(name, args, ms),
    };
  },
};

/** Changes the entries that a follower reads. `known` are those that it has read before, by their entry ids. */
const reading = (
  change: (
    rows: readonly Entry[],
    known: ReadonlyMap<string, Entry>,
    from: string | undefined,
  ) => readonly Entry[],
): RelayMutation => {
  const all = new Map<number, Map<string, Entry>>();
  return {
    follower(store, number) {
      const known = all.get(number) ?? new Map<string, Entry>();
      all.set(number, known);
      return {
        ...store,
        async send(name, args, ms) {
          const answer = await store.send(name, args, ms);
          const [, from, to] = args.map(String);
          if (name === 'XRANGE' && from === to)
            return change(Array.isArray(answer) ? answer : [], known, from);
          if (name !== 'XREAD' || !Array.isArray(answer)) return answer;
          const [[stream, rows]] = answer;
          const changed = change(rows, known, undefined);
          for (const row of changed) known.set(row[0], row);
          return [[stream, changed]];
        },
      };
    },
  };
};
type Entry = readonly [entry: string, fields: readonly string[]];

/** A follower assumes that the last entry that it read still exists. */
export const doesNotLookBack = reading((rows, known, from) => {
  const last = known.get(from ?? '');
  return rows.length > 0 || last === undefined ? rows : [last];
});

/** A follower assumes that the entries that it reads follow those that it has read before. */
export const assumesNoGap = reading((rows, known, from) => {
  const [first, ...rest] = rows;
  const last = [...known.values()].at(-1);
  if (from !== undefined || first === undefined || last === undefined) return rows;
  const [entry, fields] = first;
  return [[entry, fields.with(fields.indexOf('prev') + 1, last[1][1] ?? '')], ...rest];
});
