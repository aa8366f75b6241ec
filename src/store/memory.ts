import { quietly } from '../base/calls.ts';
import { isRecord, type JsonObject, parseObject } from '../base/json-object.ts';
import type { GroupPlace } from './feed/group-batches.ts';
import type { FeedState } from './feed/term.ts';

/**
 * What a machine remembers about its store, for times when the store is unavailable or has lost its data.
 */
interface Remembered {
  /** The number of machines that were active when the store was last reached. */
  readonly fleet: number;
  /** The shared budgets of this machine, by their names in the store, in CU. */
  readonly budgets: Readonly<Record<string, number>>;
  /** The service's count of the month's units when the day began, which the sum of the day starts from. */
  readonly dayStart: { readonly day: string; readonly units: number } | undefined;
  /** The positions of the groups that this machine was a member of, by feed and group. */
  readonly groups: Readonly<Record<string, GroupPlace>>;
}

export interface StoreMemory {
  read(): Remembered;
  update(change: Partial<Remembered>): void;
  /** The state of a feed that this machine led last. */
  readFeed(id: string): FeedState | undefined;
  saveFeed(id: string, state: FeedState): void;
}

/** The files of what a machine remembers: one of the facts, whose name is empty, and one for each feed. */
interface MemoryFiles {
  load(name: string): string | undefined;
  save(name: string, text: string): void;
}

const nothing: Remembered = { fleet: 1, budgets: {}, dayStart: undefined, groups: {} };

/**
 * Saves facts about the store in a file whenever they change. The file is read each time, because other processes of
 * the machine write it too. An error of a file never ends a run, which then remembers the facts itself.
 */
export function createMemory(files: MemoryFiles | undefined): StoreMemory {
  let known = nothing;
  const read = () => {
    const saved = parseObject(quietly(() => files?.load('')) ?? '');
    if (saved) known = remembered(saved);
    return known;
  };
  return {
    read,
    update(change) {
      const before = JSON.stringify(read());
      known = { ...known, ...change };
      const after = JSON.stringify(known);
      if (after !== before) quietly(() => files?.save('', `${after}\n`));
    },
    readFeed: (id) => feedState(parseObject(quietly(() => files?.load(id)) ?? '') ?? {}),
    saveFeed: (id, state) => quietly(() => files?.save(id, `${JSON.stringify(state)}\n`)),
  };
}

function feedState({ mark, last }: JsonObject): FeedState | undefined {
  return typeof mark === 'string' && typeof last === 'string' ? { mark, last } : undefined;
}

function remembered({ fleet, budgets, dayStart, groups }: JsonObject): Remembered {
  const { day, units } = isRecord(dayStart) ? dayStart : {};
  return {
    fleet: typeof fleet === 'number' && Number.isSafeInteger(fleet) && fleet >= 1 ? fleet : 1,
    budgets: Object.fromEntries(
      Object.entries(isRecord(budgets) ? budgets : {}).flatMap(([name, cu]) =>
        typeof cu === 'number' ? [[name, cu]] : [],
      ),
    ),
    dayStart: typeof day === 'string' && typeof units === 'number' ? { day, units } : undefined,
    groups: Object.fromEntries(
      Object.entries(isRecord(groups) ? groups : {}).flatMap(([name, place]) => {
        const { born, last } = isRecord(place) ? place : {};
        const { id, at } = isRecord(last) ? last : {};
        const point = typeof id === 'string' ? { id, at: typeof at === 'number' ? at : null } : null;
        return typeof born === 'string' ? [[name, { born, last: point }]] : [];
      }),
    ),
  };
}
