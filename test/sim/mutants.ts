import type { Link, TailPorts } from '../../src/tail/ports.ts';
import type { Seen } from '../../src/tail/seen/seen.ts';
import type { Mutation } from './world.ts';

// Each mutant removes one safeguard of the tail, by wrapping its ports or replacing one of its options. The
// tail itself has no switches for this.

/** Walks end at the first id that was already written or read. */
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

/** A connection that confirms the subscription immediately; `when` decides when it is really sent. */
const early = (world: TailPorts, when: (send: () => void) => void): TailPorts => {
  const { connect } = world;
  if (!connect) return world;
  return {
    ...world,
    async connect(onChange, signal) {
      const link = await connect(onChange, signal);
      let confirmed = false;
      const eagerLink: Link = {
        next() {
          if (confirmed) return link.next();
          confirmed = true;
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
      return eagerLink;
    },
  };
};

/** The tail does not wait for the confirmation of its subscription. */
export const doesNotWait: Mutation = { world: (world) => early(world, (send) => send()) };

/** The subscription is sent only after the first page was read. */
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

/** A fixed number of ids is remembered, instead of the ids of a fixed period. */
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

/** No later walks confirm the first walk of a connection. */
export const doesNotConfirm: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, confirmMs: [] } }),
};

/** The checkpoint is written before the rows it covers are flushed. */
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

/** Walks search for late posts only up to 15 s back, although posts may be later. */
export const looksAQuarterMinute: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, marginMs: 15_000 } }),
};

/** Frames that are older than the margin are dropped. */
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

/** The tail trusts a page that states that it is the last one, without a further request. */
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

/** Turns off audits, which would otherwise find posts that a mutant missed. */
export const withoutAudits = (mutation: Mutation): Mutation => ({
  ...mutation,
  options(options) {
    const alone = { ...options, timing: { ...options.timing, auditMs: 1e9 } };
    return mutation.options?.(alone) ?? alone;
  },
});
