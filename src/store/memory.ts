import { isRecord, parseObject } from '../base/json-object.ts';

/**
 * What a machine remembers about its store, for times when the store is unavailable or has lost its data.
 */
export interface Remembered {
  /** The number of machines that were active when the store was last reached. */
  readonly fleet: number;
  /** The shared budgets of this machine, by their names in the store, in CU. */
  readonly budgets: Readonly<Record<string, number>>;
  /** The service's count of the month's units when the day began, which the sum of the day starts from. */
  readonly dayStart: { readonly day: string; readonly units: number } | undefined;
}

export interface StoreMemory {
  read(): Remembered;
  update(change: Partial<Remembered>): void;
}

/** The file of the facts that a machine remembers. */
export interface MemoryFile {
  load(): string | undefined;
  save(text: string): void;
}

const nothing: Remembered = { fleet: 1, budgets: {}, dayStart: undefined };

/**
 * Saves facts about the store in a file whenever they change. The file is read each time, because other processes of
 * the machine write it too. An error of the file never ends a run, which then remembers the facts itself.
 */
export function createMemory(file: MemoryFile | undefined): StoreMemory {
  let known = nothing;
  const read = () => {
    const saved = parseObject(quietly(() => file?.load()) ?? '');
    if (saved) known = remembered(saved);
    return known;
  };
  return {
    read,
    update(change) {
      const before = JSON.stringify(read());
      known = { ...known, ...change };
      const after = JSON.stringify(known);
      if (after !== before) quietly(() => file?.save(`${after}\n`));
    },
  };
}

function remembered({ fleet, budgets, dayStart }: Readonly<Record<string, unknown>>): Remembered {
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

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
