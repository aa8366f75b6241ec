import { once } from '../../src/base/calls.ts';
import { generateRecords, type WorldSize } from '../../src/sandbox/world/generate.ts';
import type { WorldRecords } from '../../src/sandbox/world/source.ts';
import { createWorld, type World } from '../../src/sandbox/world/world.ts';

/** The records of worlds whose history ends at 0, by seed and size. */
const worlds = new Map<string, WorldRecords>();

/**
 * A generated world whose history ends at `now`. Its records are made once for all tests of a worker, because this takes longer
 * than most runs, and then moved to the time.
 */
export function worldAt(now: number, seed: number, { traders, theses }: WorldSize): World {
  const name = `${seed} ${traders} ${theses}`;
  const made = worlds.get(name) ?? onceEach(generateRecords(seed, 0, { traders, theses }));
  worlds.set(name, made);
  const end = Math.floor(now);
  const records: WorldRecords = {
    ...made,
    // A world renames its users.
    users: made.users.map((user) => ({ ...user })),
    identitiesAt: (time) => made.identitiesAt(time - now),
    numbers: () => made.numbers().map((each) => ({ ...each, updatedAt: end - (end % 60_000) })),
    theses: () =>
      made.theses().map((post) => moved(post, end, 'platformCreatedAt', 'closedAt', 'updatedAt')),
    callouts: () => made.callouts().map((post) => moved(post, end, 'createdAt')),
    // Their snapshots are taken at fixed times.
    boards: () => generateRecords(seed, now, { traders, theses }).boards(),
  };
  return createWorld(records, seed);
}

const onceEach = (records: WorldRecords): WorldRecords => ({
  ...records,
  numbers: once(records.numbers),
  theses: once(records.theses),
  accounts: once(records.accounts),
  callouts: once(records.callouts),
});

function moved<T extends object>(record: T, by: number, ...names: readonly (keyof T)[]): T {
  const copy = { ...record };
  for (const name of names) {
    const time = record[name];
    if (typeof time === 'number') Object.assign(copy, { [name]: time + by });
  }
  return copy;
}
