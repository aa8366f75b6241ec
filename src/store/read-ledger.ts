import type { LedgerEntry } from '../contract/ports.ts';
import type { StoreConnection } from './connection.ts';
import { entryMs } from './feed/entry.ts';
import type { Keys } from './keys.ts';
import { fieldsReply } from './replies.ts';

const AT_ONCE = 1_000;

/** The calls of all machines, from the ledger in the store. */
export async function readSharedLedger(
  store: StoreConnection,
  keys: Keys,
  since: number,
): Promise<LedgerEntry[]> {
  const calls = new Map<string, LedgerEntry>();
  for (let from = `${Math.max(0, Math.floor(since))}-0`; ; ) {
    const answer = await store.send('XRANGE', [keys.ledger, from, '+', 'COUNT', AT_ONCE]);
    const page: readonly unknown[] = Array.isArray(answer) ? answer : [];
    let last = '';
    for (const pair of page) {
      const [entry = '', flat]: readonly unknown[] = Array.isArray(pair) ? pair : [];
      last = String(entry);
      const fields = fieldsReply(flat);
      // If a call was recorded as lost and its answer then arrived, the call has two entries. The later entry
      // replaces the earlier one.
      calls.set(fields.get('id') ?? last, callOf(last, fields));
    }
    if (page.length < AT_ONCE) return [...calls.values()];
    from = `(${last}`;
  }
}

function callOf(entry: string, fields: ReadonlyMap<string, string>): LedgerEntry {
  const number = (name: string) => Number(fields.get(name)) || 0;
  const status = number('status');
  const atMost = number('most');
  return {
    time: entryMs(entry),
    command: fields.get('command') ?? '',
    profile: '',
    host: fields.get('machine') ?? '',
    endpoint: fields.get('endpoint') ?? '',
    status: status === 0 ? null : status,
    cu: number('cu'),
    ...(atMost > 0 && { cuAtMost: atMost }),
  };
}
