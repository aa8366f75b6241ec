import type { OutputPorts, TailPorts } from '../../src/tail/ports.ts';
import type { Position } from '../../src/tail/position.ts';
import type { TailRow } from '../../src/tail/post-row.ts';
import type { Mutation } from './world.ts';

// Each mutant removes one safeguard of the tail, by wrapping its ports or replacing one of its options. The
// tail itself has no switches for this.

type Page = TailPorts['source']['page'];

/** Changes how pages are read. */
const paging = (world: TailPorts, change: (page: Page) => Page): TailPorts => ({
  ...world,
  source: { ...world.source, page: change(world.source.page) },
});

/** Walks end at the first id that was already written or read. */
export const stopsAtKnownId: Mutation = {
  world(world) {
    const known = new Set<string>();
    const remembering = writing(world, (rows) => {
      for (const { id } of rows) known.add(id);
      return rows;
    });
    return paging(remembering, (read) => async (ask, signal) => {
      const page = await read(ask, signal);
      const at = page.rows.findIndex(({ id }) => known.has(id ?? ''));
      for (const { id } of page.rows) known.add(id ?? '');
      if (at < 0) return page;
      return { ...page, rows: page.rows.slice(0, at + 1), hasMore: false, nextBefore: null };
    });
  },
};

const confirmation = Buffer.from(
  JSON.stringify({ type: 'subscription', subscription: { type: 'all' } }),
);

/** A connection that confirms the subscription immediately; `when` decides when it is really sent. */
const early = (world: TailPorts, when: (send: () => void) => void): TailPorts => {
  const { connect } = world;
  if (!connect) return world;
  return {
    ...world,
    async connect(onChange, signal) {
      const link = await connect(onChange, signal);
      const waiting = [confirmation];
      return {
        next: () => waiting.shift() ?? link.next(),
        send: (text: string) => when(() => link.send(text)),
        ping: () => link.ping?.(),
        close: () => link.close(),
        get held() {
          return link.held;
        },
        get signs() {
          return link.signs;
        },
        get end() {
          return link.end;
        },
      };
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
    return paging(mutated, (read) => async (ask, signal) => {
      const page = await read(ask, signal);
      after?.();
      after = undefined;
      return page;
    });
  },
};

/** The position has no ids. */
export const forgetsIds: Mutation = {
  world: (world) => saving(world, (position) => ({ ...position, ids: [] })),
};

/** The position has no ids of posts without a time, which no time allows to forget. */
export const forgetsTimeless: Mutation = {
  world: (world) =>
    saving(world, (position) => ({
      ...position,
      ids: position.ids.filter(([, at]) => at !== null),
    })),
};

/** Ids are forgotten by their number, and not by the time up to which the feed is verified. */
export const forgetsByCount: Mutation = {
  world: (world) => saving(world, (position) => ({ ...position, ids: position.ids.slice(-50) })),
};

/** A request that fails counts as the end of the feed, and not as no answer. */
export const takesFailuresForTheEnd: Mutation = {
  world: (world) =>
    paging(world, (read) => async (ask, signal) => {
      try {
        return await read(ask, signal);
      } catch (error) {
        if (ask.before === undefined) throw error;
        return { rows: [], hasMore: false, nextBefore: null };
      }
    }),
};

/** The first answers of a process are empty, although the feed has posts. */
export const emptyAtFirst = (answers: number): Mutation => ({
  world(world) {
    let left = answers;
    return paging(world, (read) => async (ask, signal) => {
      if (left === 0) return await read(ask, signal);
      left--;
      return { rows: [], hasMore: false, nextBefore: null };
    });
  },
});

/** A gap ends before the oldest post that was read, and not with it. */
export const shortensGaps: Mutation = {
  world: (world) =>
    saving(world, (position) => ({
      ...position,
      coverage: position.coverage && {
        ...position.coverage,
        gaps: position.coverage.gaps.map((gap) => ({ ...gap, to: (gap.from + gap.to) / 2 })),
      },
    })),
};

/** A run that has lost its position takes the newest line of its file for the time up to which the feed is verified. */
export const trustsTheNewestLine: Mutation = {
  resumed(position) {
    if (position.file || position.coverage?.after !== position.verified) return position;
    const newest = Math.max(...position.ids.map(([, at]) => at ?? 0));
    return {
      ...position,
      start: newest,
      verified: newest,
      coverage: { after: newest, gaps: [] },
    };
  },
};

/** A run that has lost its position claims what is before the lines of its file. */
export const claimsBeforeTheLines: Mutation = {
  resumed: (position) =>
    position.file ? position : { ...position, coverage: { after: 0, gaps: [] } },
};

/** The position claims that the feed is verified up to the newest post that was read. */
export const claimsTheNewest: Mutation = {
  world: (world) =>
    saving(world, (position) => {
      const newest = position.ids.reduce(
        (most, [, at]) => Math.max(most, at ?? most),
        position.verified ?? 0,
      );
      return { ...position, verified: newest };
    }),
};

/** The position claims that the feed is verified up to two minutes ago by the clock of this machine. */
export const claimsByClock: Mutation = {
  world: (world) =>
    saving(world, (position) => ({
      ...position,
      verified: position.verified && Math.max(position.verified, world.clock.now() - 120_000),
    })),
};

/** A frame from before the position counts as late, and not as repeated. */
export const takesRepeatsForLate: Mutation = {
  resumed: (position) => ({ ...position, start: position.verified, verified: null }),
};

/** A gap is forgotten when a process continues from the position. */
export const forgetsGaps: Mutation = {
  resumed: ({ coverage, ...position }) => ({
    ...position,
    coverage: coverage && { ...coverage, gaps: [] },
  }),
};

/** The stretches before and after a gap are joined. */
export const joinsStretches: Mutation = {
  world: (world) =>
    saving(world, (position) => ({
      ...position,
      coverage: position.coverage && { ...position.coverage, gaps: [] },
    })),
};

/** The stretch begins before the posts that were there when the run began. */
export const claimsThePast: Mutation = {
  world: (world) =>
    saving(world, (position) => ({
      ...position,
      coverage: position.coverage && { ...position.coverage, after: position.start },
    })),
};

/** The lines that were written after the position was saved are not known. */
export const ignoresLines: Mutation = { isBlind: true };

/** Changes the positions that are saved. */
const saving = (world: TailPorts, change: (position: Position) => Position): TailPorts => {
  const { save } = world.output;
  return putting(world, { save: save && ((position) => save(change(position))) });
};

/** Changes what the output consists of. */
const putting = (world: TailPorts, change: Partial<OutputPorts>): TailPorts => ({
  ...world,
  output: { ...world.output, ...change },
});

/** No later walks confirm the first walk of a connection. */
export const doesNotConfirm: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, confirmMs: [] } }),
};

/** The checkpoint is written before the rows it covers are flushed. */
export const savesFirst: Mutation = {
  world(world) {
    const { writer, save } = world.output;
    return putting(world, {
      writer: { ...writer, flush: () => Promise.resolve(true) },
      save:
        save &&
        (async (position) => {
          await save(position);
          await writer.flush();
        }),
    });
  },
};

/** The position has the place in the file from before the rows that it covers were written. */
export const takesThePlaceFirst: Mutation = {
  world(world) {
    const { writer } = world.output;
    let place = writer.place?.();
    const flush = () => {
      place = writer.place?.();
      return writer.flush();
    };
    const early = () => place ?? { dev: '1', ino: '1', offset: 0 };
    return putting(world, {
      writer: { ...writer, flush, ...(writer.place && { place: early }) },
    });
  },
};

/** Posts count as verified after 15 s, although they may appear later. */
export const verifiesTooSoon: Mutation = {
  options: (options) => ({ ...options, timing: { ...options.timing, latenessMs: 15_000 } }),
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
    const { step } = world.source.sizes;
    let last: string | null | undefined;
    return paging(world, (read) => async (ask, signal) => {
      if (ask.before !== undefined && ask.before === last)
        return { rows: [], hasMore: false, nextBefore: null };
      const page = await read(ask, signal);
      if (page.hasMore || page.rows.length < step) return page;
      const rows = page.rows.slice(0, step - 1);
      last = rows.at(-1)?.id;
      return { ...page, rows };
    });
  },
};

/** The position has nothing of what the stages remember: posts for confluences, printed values. */
export const forgetsWindow: Mutation = { resumed: ({ state: _, ...position }) => position };

/** A post that is found late does not count in confluences. */
export const dropsLateRows: Mutation = {
  world(world) {
    let newest = 0;
    const isNew = ({ at }: TailRow) => {
      const isLate = (at ?? 0) < newest - 5_000;
      newest = Math.max(newest, at ?? 0);
      return !isLate;
    };
    return writing(world, (rows) => rows.filter(isNew));
  },
};

/** Each post counts as one of another author. */
export const countsAuthorsTwice: Mutation = {
  world: (world) =>
    writing(world, (rows) =>
      rows.map((row) => ({ ...row, record: { ...row.record, authorId: row.id, wallet: row.id } })),
    ),
};

/** A post that is found late counts as one of the newest ones. */
export const countsFromArrival: Mutation = {
  world(world) {
    let newest = 0;
    return writing(world, (rows) =>
      rows.map((row) => {
        newest = Math.max(newest, row.at ?? 0);
        return { ...row, at: newest };
      }),
    );
  },
};

/** The distances of posts in time count as so much longer. */
export const stretchesTime = (factor: number): Mutation => ({
  world: (world) =>
    writing(world, (rows) =>
      rows.map((row) => ({ ...row, at: row.at === null ? null : factor * row.at })),
    ),
});

/** Changes the posts before they are written, or make confluences. */
const writing = (
  world: TailPorts,
  change: (rows: readonly TailRow[]) => readonly TailRow[],
): TailPorts => {
  const { writer, stages } = world.output;
  if (stages) {
    return putting(world, {
      stages: {
        left: stages.left,
        passed: stages.passed,
        held: stages.held,
        pass: (rows) => stages.pass(change(rows)),
        state: () => stages.state(),
      },
    });
  }
  return putting(world, { writer: { ...writer, write: (rows) => writer.write(change(rows)) } });
};

/** Turns off audits, which would otherwise find posts that a mutant missed. */
export const withoutAudits = (mutation: Mutation): Mutation => ({
  ...mutation,
  options(options) {
    const alone = { ...options, timing: { ...options.timing, auditMs: 1e9, longAuditMs: 1e9 } };
    return mutation.options?.(alone) ?? alone;
  },
});
