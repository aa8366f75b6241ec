import { expect, test } from 'vitest';
import type { TailPorts } from '../../src/tail/ports.ts';
import { repeats, timeoutFor } from '../repeats.ts';
import { seeds, simulate } from './run.ts';
import { scheduleOf } from './schedule.ts';
import type { Mutation } from './world.ts';

/** The number of schedules; `SIM_SEEDS=1000000` runs more, `FROM=n` others, `SEED=n` repeats one. */
const SEEDS = repeats('SIM_SEEDS', 8, 2_000);
const FROM = Number(process.env['FROM'] ?? 0);
const one = process.env['SEED'];
const desks = (from: number, to: number) =>
  [...seeds(from, to)].map((schedule) => ({ ...schedule, desk: true }));

test(
  'with any faults, every post of several authors is written exactly once, also from their own pages',
  timeoutFor(SEEDS),
  async () => {
    const schedules =
      one === undefined ? desks(FROM, FROM + SEEDS) : [{ ...scheduleOf(Number(one)), desk: true }];
    const [failed] = await simulate(schedules);
    expect(failed?.problems.slice(0, 10) ?? [], `SEED=${failed?.schedule.seed}`).toEqual([]);
  },
);

type Source = TailPorts['source'];

/** Changes the pages of the authors of a desk. */
const ownPages = (change: (source: Source) => Source['page']): Mutation => ({
  world: ({ own, ...world }) => ({
    ...world,
    own: own && {
      ...own,
      sources: own.sources.map((source) => ({ ...source, page: change(source) })),
    },
  }),
});

const mutants: Readonly<Record<string, Mutation>> = {
  'the first of their own pages counts as all of them': ownPages(
    (source) => async (ask, signal) => {
      const page = await source.page(ask, signal);
      return ask.before === undefined ? page : { ...page, rows: [], hasMore: false };
    },
  ),
};

test.each(Object.entries(mutants))('fails if %s', async (_, mutation) => {
  expect(await simulate(desks(0, 200), mutation, 1)).not.toEqual([]);
});
