import { parseObject } from '../base/json-object.ts';
/** What a machine remembers about its store, for times when the store is unavailable. */
export interface Remembered {
  /** The number of machines that were active when the store was last reached. */
  readonly fleet: number;
  /** Whether the key has a shared budget. If so, nothing is spent while the store is unavailable. */
  readonly capped: boolean;
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

const nothing: Remembered = { fleet: 1, capped: false };

/** Saves facts about the store in a file whenever they change. A write error never ends a run. */
export function createMemory(file: MemoryFile | undefined): StoreMemory {
  let known: Remembered | undefined;
  const read = () => {
    known ??= parse(quietly(() => file?.load()));
    return known;
  };
  return {
    read,
    update(change) {
      const before = read();
      const after = { ...before, ...change };
      if (after.fleet === before.fleet && after.capped === before.capped) return;
      known = after;
      quietly(() => file?.save(`${JSON.stringify(after)}\n`));
    },
  };
}

function parse(text: string | undefined): Remembered {
  const value = parseObject(text ?? '');
  if (!value) return nothing;
  const { fleet, capped } = value;
  return {
    fleet: typeof fleet === 'number' && Number.isSafeInteger(fleet) && fleet >= 1 ? fleet : 1,
    capped: capped === true,
  };
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
