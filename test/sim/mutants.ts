import type { Link, TailPorts } from '../../src/tail/ports.ts';
import type { Seen } from '../../src/tail/seen/seen.ts';
import type { Mutation } from './world.ts';

// Each of these is the tail without one of its precautions. They are made by lying to it about the world, or by
// handing it another part: the tail itself has no switch for them.

/** Walks end at the first id that came out before, wherever it came from. */
export const stopsAtKnownId: Mutation = {
  world(world) {
    const known = new Set<string>();
    return {
      ...world,
      sink: {
        ...world.sink,
        write(rows) {
          for (const { id } of rows) known.add(id);
          return world.sink.write(rows);
        },
      },
      source: {
        ...world.source,
        async page(ask, signal) {
          const page = await world.source.page(ask, signal);
          const at = page.rows.findIndex(({ id }) => known.has(id));
          for (const { id } of page.rows) known.add(id);
          if (at < 0) return page;
          return { ...page, rows: page.rows.slice(0, at + 1), hasMore: false, nextBefore: null };
        },
      },
    };
  },
};

const confirmation = Buffer.from(JSON.stringify({ type: 'subscription', subscription: { type: 'all' } }));

/** A connection that is taken for subscribed at once; `when` says when the subscription really goes out. */
const early = (world: TailPorts, when: (send: () => void) => void): TailPorts => {
  const { connect } = world;
  if (!connect) return world;
  return {
    ...world,
    async connect(stir, signal) {
      const link = await connect(stir, signal);
      let told = false;
      const eager: Link = {
        next() {
          if (told) return link.next();
          told = true;
          return confirmation;
        },
        get held() {
          return link.held;
        },
        get signs() {
          return link.signs;
        },
        get end() {
          return link.end;
        },
        send: (text) => when(() => link.send(text)),
        close: () => link.close(),
      };
      return eager;
    },
  };
};

/** The subscription goes out, and its confirmation is not waited for. */
export const doesNotWait: Mutation = { world: (world) => early(world, (send) => send()) };

/** The pages are read first, and only then does the subscription go out. */
export const snapshotsFirst: Mutation = {
  world(world) {
    let after: (() => void) | undefined;
    const mutated = early(world, (send) => {
      after = send;
    });
    return {
      ...mutated,
      source: {
        ...world.source,
        async page(ask, signal) {
          const page = await world.source.page(ask, signal);
          after?.();
          after = undefined;
          return page;
        },
      },
    };
  },
};

/** Ids are remembered by number, not by time. */
export const remembersByCount: Mutation = {
  options: (options) => ({ ...options, seen: () => ringOf(40) }),
};

function ringOf(size: number): Seen {
  const ids = new Map<string, number | null>();
  let floor = Number.NEGATIVE_INFINITY;
  return {
    get floor() {
      return floor;
    },
    get size() {
      return ids.size;
    },
    has: (id) => ids.has(id),
    add(id, at) {
      if (ids.has(id)) return false;
      ids.set(id, at);
      for (const first of ids.keys()) if (ids.size > size) ids.delete(first);
      return true;
    },
    recall: (id) => ids.set(id, null),
    forget(horizon) {
      floor = Math.max(floor, horizon);
    },
    since: () => [...ids],
  };
}

/** No walk confirms the one after a connection. */
export const doesNotConfirm: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, confirmMs: [] } }),
};

/** The checkpoint is written before what it stands for is safe. */
export const savesFirst: Mutation = {
  world: (world) => ({
    ...world,
    sink: { ...world.sink, flush: () => Promise.resolve(true) },
    save:
      world.save &&
      (async (text) => {
        await world.save?.(text);
        await world.sink.flush();
      }),
  }),
};

/** Posts may be later than is looked for. */
export const looksAQuarterMinute: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, marginMs: 15_000 } }),
};

/** Frames dated before the margin are dropped. */
export const dropsLateFrames: Mutation = {
  options(options) {
    let newest = Number.NEGATIVE_INFINITY;
    return {
      ...options,
      scope({ at }) {
        newest = Math.max(newest, at ?? newest);
        return at === null || at >= newest - 120_000;
      },
    };
  },
};

/** A page that says it is the last is believed: it looks like a short one, and nothing is below it. */
export const believesTheLastPage: Mutation = {
  world(world) {
    let last: string | undefined;
    return {
      ...world,
      source: {
        ...world.source,
        async page(ask, signal) {
          if (ask.before !== undefined && ask.before === last) {
            return { rows: [], hasMore: false, nextBefore: null, cu: 0 };
          }
          const page = await world.source.page(ask, signal);
          if (page.hasMore || page.rows.length < world.source.sizes.step) return page;
          const rows = page.rows.slice(0, world.source.sizes.step - 1);
          last = rows.at(-1)?.id;
          return { ...page, rows };
        },
      },
    };
  },
};

/** Audits would find later what the other precautions let through: without them, each has to hold alone. */
export const withoutAudits = (mutation: Mutation): Mutation => ({
  ...mutation,
  options(options) {
    const alone = { ...options, timing: { ...options.timing, auditMs: 1e9 } };
    return mutation.options?.(alone) ?? alone;
  },
});
