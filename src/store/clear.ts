import { hashReply, type StoreConnection } from './connection.ts';
import { isStoreFailure } from './failures.ts';
import type { Keys } from './keys.ts';
import { listReply } from './replies.ts';
import { spendingScripts } from './scripts/spending.ts';

const AT_ONCE = 500;

export async function findKeys(
  store: StoreConnection,
  keys: Keys,
  what: string,
  feed?: string,
): Promise<string[]> {
  const below: Readonly<Record<string, readonly string[]>> = {
    cache: ['answer:', 'flight:'],
    feed: [`feed:${feed}:`],
    all: [''],
  };
  const starts = (below[what] ?? []).map((start) => `${keys.root}:${start}`);
  const matching = new Set<string>();
  for (let cursor = '0'; ; ) {
    const scan = [cursor, 'MATCH', `${escaped(keys.root)}:*`, 'COUNT', AT_ONCE];
    const [next, names] = listReply(await store.send('SCAN', scan));
    for (const name of listReply(names).map(String))
      if (starts.some((start) => name.startsWith(start))) matching.add(name);
    cursor = String(next ?? '0');
    if (cursor === '0') return [...matching].sort();
  }
}

export async function removeKeys(
  store: StoreConnection,
  keys: Keys,
  names: readonly string[],
  feed?: string,
) {
  // Machines would report budgets as lost whose names are gone, unless another program has
  // overwritten all of them.
  const budgets = names.includes(keys.caps)
    ? await hashReply(store, keys.caps).catch((error: unknown) => {
        if (!isStoreFailure(error, 'STORE_UNFIT')) throw error;
        return undefined;
      })
    : new Map<string, string>();
  for (const [name] of budgets ?? [])
    await store.run(...spendingScripts.removeBudget.with({ caps: keys.caps }, { name }));
  const others = names.filter((name) => budgets === undefined || name !== keys.caps);
  for (let from = 0; from < others.length; from += AT_ONCE) {
    await store.send('DEL', others.slice(from, from + AT_ONCE));
  }
  if (feed !== undefined) await store.send('SREM', [keys.feeds, feed]);
}

const escaped = (text: string) => text.replace(/[*?[\]\\]/g, '\\$&');
