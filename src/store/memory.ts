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

/**
 * What must not vanish with the store, in files. Facts are read each time, because other processes
 * write them too. An error of a file never ends a run.
 */
export class StoreMemory {
  readonly #folder: string | undefined;
  #name: string;
  #remembered: Remembered = { fleet: 1, budgets: {}, dayStart: undefined };

  constructor(folder: string | undefined, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  read(): Remembered {
    const saved = this.#load();
    if (saved) this.#remembered = remembered(saved);
    return this.#remembered;
  }

  update(change: Partial<Remembered>): void {
    const before = JSON.stringify(this.read());
    this.#remembered = { ...this.#remembered, ...change };
    if (JSON.stringify(this.#remembered) !== before) this.#save(this.#remembered);
  }

  /** Continues as what is remembered of another key, with the budgets remembered so far. */
  rename(name: string): void {
    const { budgets } = this.read();
    this.#name = name;
    const own = this.read();
    this.#remembered = { ...own, budgets: { ...budgets, ...own.budgets } };
    this.#save(this.#remembered);
  }

  readFeed(id: string): FeedState | undefined {
    const { mark, last } = this.#load(id) ?? {};
    return typeof mark === 'string' && typeof last === 'string' ? { mark, last } : undefined;
  }

  saveFeed(id: string, state: FeedState): void {
    this.#save(state, id);
  }

  #path(feed: string): string {
    return join(this.#folder ?? '', `store-${this.#name}${feed === '' ? '' : `-${feed}`}.json`);
  }

  #load(feed = ''): JsonObject | undefined {
    if (this.#folder === undefined) return undefined;
    const text = quietly(() => readBounded(this.#path(feed), LARGEST_CHECKPOINT));
    return parseObject(text ?? '');
  }

  #save(value: unknown, feed = ''): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    quietly(() => {
      ensureFolder(folder);
      writeAtomic(this.#path(feed), `${JSON.stringify(value)}\n`, { sync: false });
    });
  }
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
