import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { periodsAt } from '../base/periods.ts';
import { budgetRefusal } from '../contract/budget.ts';
import type { CallCost, Ledger, PaidCall } from '../contract/ports/ledger.ts';
import {
  budgetNamed,
  evictingFailure,
  goneFailure,
  readBudgets,
  rememberedBudgets,
} from './budgets.ts';
import { hashReply, listReply, number, type StoreConnection } from './connection.ts';
import { storeFailure, unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import type { Script } from './script.ts';
import { spendingScripts } from './scripts/spending.ts';

interface Spending {
  readonly command: string;
  readonly clock: Pick<Clock, 'now'>;
  /**
   * Whether to stop paid calls while the store is unavailable, even if this machine has seen no
   * shared budget.
   */
  readonly stop: boolean;
  /** An older reservation belongs to a process that died or cannot reach the store. */
  readonly ttlMs: number;
  /** What the service has counted for the key this month, by the free call `me`. */
  readonly meter: () => Promise<{ readonly unitsUsed: number; readonly period: string }>;
}

type Values = readonly (string | number)[];

const TRIES = 6;
/**
 * While the store is unavailable. The reservations of further calls expire, and they count as lost.
 */
const UNSENT_MAX = 10_000;

/**
 * Creates the ledger of all machines, with their shared budgets. `local`, that of this machine, is
 * written first.
 */
export function createStoreLedger(
  member: StoreMember,
  local: Ledger,
  { command, clock, stop, ttlMs, meter }: Spending,
): Ledger {
  const { link, machine, memory } = member;
  const { keys } = link;
  let periods = periodsAt(clock.now());
  let unsent: { readonly script: Script; readonly values: Values }[] = [];

  /** By the server's clock. */
  async function run(
    store: StoreConnection,
    script: Script,
    values: Values,
  ): Promise<readonly unknown[]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const { month, day } = periods;
      const sums = [
        keys.open,
        keys.calls,
        keys.done,
        keys.sum(month),
        keys.sum(day),
        keys.caps,
        keys.ledger,
      ];
      const answer = listReply(await store.run(script, sums, [Date.parse(day), day, ...values]));
      if (answer[0] !== 'period') return answer;
      periods = periodsAt(Number(answer[1]));
    }
    throw storeFailure(
      'STORE_UNFIT',
      'the clock of the store keeps jumping between days',
      'synchronize the clock of the server, for example with NTP; then run the command again',
    );
  }

  /** The service's count when the present day began, as the store has it; empty if it has none. */
  const dayStart = (units: unknown) =>
    units === '' ? {} : { dayStart: { day: periods.day, units: Number(units) } };

  link.onConnect(async (store) => {
    for (let first = unsent[0]; first; first = unsent[0]) {
      await run(store, first.script, first.values);
      unsent = unsent.slice(1);
    }
  });

  /**
   * Sends the cost of a call, now or when the store is available again. Never throws, because the
   * call has ended.
   */
  async function report(script: Script, values: Values): Promise<void> {
    try {
      await link.use((store) => run(store, script, values));
    } catch {
      if (unsent.length < UNSENT_MAX) unsent.push({ script, values });
    }
  }

  async function reserve({ endpoint, most }: PaidCall): Promise<string> {
    let id: string = randomUUID();
    for (let tries = 0; tries < TRIES; tries++) {
      const answer = await link.use(async (store) => {
        const remembered = rememberedBudgets(member);
        // This server can remove keys by itself, so a missing budget does not mean that spending is
        // unlimited.
        if (store.server.evicts && remembered.length > 0) throw evictingFailure();
        const values = [id, most ?? '', ttlMs, machine, command, endpoint, store.server.boot];
        return run(store, spendingScripts.begin, [...values, ...remembered]);
      });
      const [word, figure, ...limits] = answer;
      if (word === 'held') return id;
      if (word === 'ok') {
        const budgets: Record<string, number> = {};
        for (let at = 0; at + 1 < limits.length; at += 2)
          budgets[String(limits[at])] = Number(limits[at + 1]);
        memory.update({ budgets, ...dayStart(figure) });
        return id;
      }
      if (word === 'gone') throw goneFailure(answer.slice(1).map(String), memory);
      if (word === 'unpriced' || word === 'refused') throw refusal(answer, most);
      if (word === 'over') id = randomUUID();
      if (word === 'reseed') await raise();
      // Do not wait for the result: the request of `me` may have to queue for the rate limit.
      if (word === 'refresh') void raise(Number(figure)).catch(() => {});
    }
    throw storeFailure(
      'STORE_UNFIT',
      'the store keeps restarting',
      'find the reason in the log of the server; then run the command again',
    );
  }

  /**
   * Raises the sums to the service's own count. Without `reserved`, the script takes what is
   * reserved when it runs.
   */
  async function raise(reserved: number | '' = ''): Promise<void> {
    const { unitsUsed, period } = await meter();
    const { day = '', units = '' } = memory.read().dayStart ?? {};
    const [, start] = await link.use((store) =>
      run(store, spendingScripts.reseed, [
        Math.ceil(unitsUsed),
        period,
        store.server.boot,
        reserved,
        day,
        units,
      ]),
    );
    memory.update(dayStart(start));
  }

  function refusal(
    [, name, cap, used, held]: readonly unknown[],
    most: number | undefined,
  ): Failure {
    memory.update({ budgets: { ...memory.read().budgets, [String(name)]: Number(cap) } });
    const budget = {
      ...budgetNamed(String(name)),
      limit: Number(cap),
      left: Math.max(0, Number(cap) - Number(used)),
      reserved: number(held),
    };
    return budgetRefusal(budget, most, clock.now());
  }

  /** Undefined if this machine continues without the store. */
  async function reserved(call: PaidCall): Promise<string | undefined> {
    try {
      return await reserve(call);
    } catch (error) {
      if (!unusable(error)) throw error;
      if (!stop && rememberedBudgets(member).length === 0) return undefined;
      throw new Failure('network', `paid calls are stopped: ${error.message}`, {
        code: 'STORE_AWAY',
        hint: stop
          ? 'run "trdr store check" to see why the store is unavailable; the setting storeAway=stop stops paid calls without the store'
          : 'run "trdr store check" to see why the store is unavailable; this key has a shared budget, which cannot be checked without the store',
        cause: error,
      });
    }
  }

  return {
    async begin(call, signal) {
      // Write the local file first, so that this machine has a record even if the store loses data.
      const recorded = await local.begin(call, signal);
      let id: string | undefined;
      try {
        id = await reserved(call);
      } catch (error) {
        await recorded.release();
        throw error;
      }
      const own = id ?? randomUUID();
      const end = (
        outcome: 'paid' | 'lost',
        uncertain: number,
        { status = null, cu = 0, requestId = '' }: Partial<CallCost>,
      ) => {
        const costs = [outcome, Math.round(cu), Math.ceil(uncertain)];
        return report(spendingScripts.settle, [
          own,
          ...costs,
          machine,
          command,
          call.endpoint,
          status ?? '',
          requestId,
        ]);
      };
      return {
        async settle(cost) {
          await recorded.settle(cost);
          await end('paid', cost.cuAtMost ?? 0, cost);
        },
        async lose(how = {}) {
          await recorded.lose(how);
          await end('lost', call.most ?? 0, how);
        },
        async release() {
          await recorded.release();
          if (id !== undefined) await report(spendingScripts.release, [id]);
        },
      };
    },
    async limits() {
      const own = (await local.limits?.()) ?? '';
      try {
        const caps = await link.use((store) => hashReply(store, keys.caps));
        return `${own} ${JSON.stringify([...caps].sort())}`;
      } catch (error) {
        if (!unusable(error)) throw error;
        return own;
      }
    },
    async budgets() {
      const own = (await local.budgets?.()) ?? [];
      try {
        const read = () => link.use((store) => readBudgets(store, member));
        const { budgets, areOld } = await read();
        if (budgets.length === 0 || !areOld) return [...own, ...budgets];
        // If the service does not report its count, return the sums of the store unchanged.
        await raise().catch(() => {});
        return [...own, ...(await read()).budgets];
      } catch (error) {
        if (!unusable(error)) throw error;
        return own;
      }
    },
  };
}
