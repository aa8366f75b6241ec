import { join } from 'node:path';
import { quietly } from '../base/calls.ts';
import { ensureFolder, LARGEST_CHECKPOINT, readBounded } from '../base/files.ts';
import { isRecord, type JsonObject, parseObject } from '../base/json-object.ts';
import { writeAtomic } from '../base/replace-file.ts';
import type { FeedState } from './feed/leader-term.ts';

interface Remembered {
  readonly fleet: number;
  /** The budgets in CU, by their names in the store. */
  readonly budgets: Readonly<Record<string, number>>;
  /**
   * The service's count of the month's units when the day began, which the sum of the day starts
   * from.
   */
  readonly dayStart: { readonly day: string; readonly units: number } | undefined;
}

/** What must not vanish with the store. */
export interface StoreMemory {
  read(): Remembered;
  update(change: Partial<Remembered>): void;
  readFeed(id: string): FeedState | undefined;
  saveFeed(id: string, state: FeedState): void;
}

/**
 * Facts are read each time, because other processes write them too. An error of a file never ends a
 * run.
 */
export function createMemory(folder: string | undefined, name: string): StoreMemory {
  let known: Remembered = { fleet: 1, budgets: {}, dayStart: undefined };
  const path = (feed: string) =>
    join(folder ?? '', `store-${name}${feed === '' ? '' : `-${feed}`}.json`);
  const load = (feed = ''): JsonObject | undefined =>
    parseObject(
      quietly(() => (folder === undefined ? '' : readBounded(path(feed), LARGEST_CHECKPOINT))) ??
        '',
    );
  const save = (value: unknown, feed = '') =>
    quietly(() => {
      if (folder === undefined) return;
      ensureFolder(folder);
      writeAtomic(path(feed), `${JSON.stringify(value)}\n`, { sync: false });
    });
  const read = (): Remembered => {
    const saved = load();
    if (saved) known = remembered(saved);
    return known;
  };
  return {
    read,
    update(change) {
      const before = JSON.stringify(read());
      known = { ...known, ...change };
      if (JSON.stringify(known) !== before) save(known);
    },
    readFeed(id) {
      const { mark, last } = load(id) ?? {};
      return typeof mark === 'string' && typeof last === 'string' ? { mark, last } : undefined;
    },
    saveFeed: (id, state) => void save(state, id),
  };
}

function remembered({ fleet, budgets, dayStart }: JsonObject): Remembered {
  const { day, units } = isRecord(dayStart) ? dayStart : {};
  return {
    fleet: typeof fleet === 'number' && Number.isSafeInteger(fleet) && fleet >= 1 ? fleet : 1,
    budgets: Object.fromEntries(
      Object.entries(isRecord(budgets) ? budgets : {}).flatMap(([name, cu]) =>
        typeof cu === 'number' ? [[name, cu]] : [],
      ),
    ),
    dayStart: typeof day === 'string' && typeof units === 'number' ? { day, units } : undefined,
  };
}
