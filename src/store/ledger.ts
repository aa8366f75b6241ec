import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { Failure } from '../base/failure.ts';
import { type Period, periodsAt } from '../base/periods.ts';
import { type BudgetState, budgetRefusal } from '../contract/budget.ts';
import type { CallCost, Ledger, PaidCall, Slot } from '../contract/ports/ledger.ts';
import {
  budgetNamed,
  evictingFailure,
  goneFailure,
  readBudgets,
  rememberedBudgets,
} from './budgets.ts';
import { hashReply, type StoreConnection } from './connection.ts';
import { storeFailure, unusable } from './failures.ts';
import type { StoreMember } from './link.ts';
import { listReply } from './replies.ts';
import type { ScriptCall } from './script.ts';
import { type BeginReply, type RefusingLimit, readBegun } from './scripts/begin-reply.ts';
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
  readonly meter: () => Promise<{
    readonly unitsUsed: number;
    readonly revealsUsed: number;
    readonly period: string;
  }>;
}

const { begin, settle, release, reseed } = spendingScripts;

/** The keys and arguments that depend on the day of the server's clock. */
interface MoneyDay {
  readonly keys: Readonly<
    Record<'open' | 'calls' | 'done' | 'month' | 'day' | 'caps' | 'ledger', string>
  >;
  readonly args: { readonly dayStart: number; readonly thisDay: string };
}

/** A script of money, which is called again if the day of the server is another one. */
type MoneyCall = (day: MoneyDay) => ScriptCall;

const TRIES = 6;
/**
 * The most outcomes that are kept while the store is unavailable. The reservations of further calls
 * expire, and count as lost.
 */
const UNSENT_MAX = 10_000;

/**
 * The ledger of all machines, with their shared budgets. `local`, that of this machine, is written
 * first.
 */
export class StoreLedger implements Ledger {
  readonly #member: StoreMember;
  readonly #local: Ledger;
  readonly #spending: Spending;
  /** The month and day of the server's clock, as far as known. */
  #periods: Readonly<Record<Period, string>>;
  /** Outcomes of calls, to be sent when the store is available again. */
  #unsent: MoneyCall[] = [];

  constructor(member: StoreMember, local: Ledger, spending: Spending) {
    this.#member = member;
    this.#local = local;
    this.#spending = spending;
    this.#periods = periodsAt(spending.clock.now());
    member.link.onConnect((store) => this.#sendRest(store));
  }

  async begin(call: PaidCall, signal?: AbortSignal): Promise<Slot<Promise<void>>> {
    // Write the local file first, so that this machine has a record even if the store loses data.
    const recorded = await this.#local.begin(call, signal);
    let id: string | undefined;
    try {
      id = await this.#reserveIfPossible(call);
    } catch (error) {
      await recorded.release();
      throw error;
    }
    const own = id ?? randomUUID();
    return {
      settle: async (cost) => {
        await recorded.settle(cost);
        const { cuAtMost = 0, revealsAtMost = 0 } = cost;
        await this.#settle(own, call, 'paid', { most: cuAtMost, reveals: revealsAtMost }, cost);
      },
      lose: async (how = {}) => {
        await recorded.lose(how);
        await this.#settle(own, call, 'lost', call, how);
      },
      release: async () => {
        await recorded.release();
        if (id !== undefined)
          await this.#report(({ keys, args }) => release.with(keys, { ...args, id: own }));
      },
    };
  }

  async limits(): Promise<string> {
    const own = (await this.#local.limits?.()) ?? '';
    const { link } = this.#member;
    try {
      const caps = await link.use((store) => hashReply(store, link.keys.caps));
      return `${own} ${JSON.stringify([...caps].sort())}`;
    } catch (error) {
      if (!unusable(error)) throw error;
      return own;
    }
  }

  async budgets(): Promise<readonly BudgetState[]> {
    const own = (await this.#local.budgets?.()) ?? [];
    const read = () => this.#member.link.use((store) => readBudgets(store, this.#member));
    try {
      const { budgets, areOld } = await read();
      if (budgets.length === 0 || !areOld) return [...own, ...budgets];
      // If the service does not report its count, return the sums of the store unchanged.
      await this.#raise().catch(() => {});
      return [...own, ...(await read()).budgets];
    } catch (error) {
      if (!unusable(error)) throw error;
      return own;
    }
  }

  /** Undefined if this machine continues without the store. */
  async #reserveIfPossible(call: PaidCall): Promise<string | undefined> {
    try {
      return await this.#reserve(call);
    } catch (error) {
      if (!unusable(error)) throw error;
      const { stop } = this.#spending;
      if (!stop && rememberedBudgets(this.#member).length === 0) return undefined;
      const why = stop
        ? 'the setting storeAway=stop stops paid calls without the store'
        : 'this key has a shared budget, which cannot be checked without the store';
      throw new Failure('network', `paid calls are stopped: ${error.message}`, {
        code: 'STORE_AWAY',
        hint: `run "trdr store check" to see why the store is unavailable; ${why}`,
        cause: error,
      });
    }
  }

  /** Reserves the maximum cost of a call in the store, and returns the id of the reservation. */
  async #reserve(call: PaidCall): Promise<string> {
    const { memory } = this.#member;
    let id: string = randomUUID();
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = await this.#begin(id, call);
      switch (reply.is) {
        case 'reserved':
          memory.update({ budgets: reply.limits, ...this.#dayStart(reply.dayStart) });
          return id;
        case 'held':
          return id;
        case 'gone':
          throw goneFailure(reply.budgets, memory);
        case 'refused':
          throw this.#refusal(reply, call.most);
        case 'ended':
          id = randomUUID();
          break;
        case 'restarted':
          await this.#raise();
          break;
        case 'old':
          // Do not wait for the result: the request of `me` may have to queue for the rate limit.
          void this.#raise(reply.reserved).catch(() => {});
      }
    }
    throw storeFailure(
      'STORE_UNFIT',
      'the store keeps restarting',
      'find the reason in the log of the server; then run the command again',
    );
  }

  #begin(id: string, { endpoint, most, reveals = 0 }: PaidCall): Promise<BeginReply> {
    const { machine, link } = this.#member;
    const { command, ttlMs } = this.#spending;
    return link.use(async (store) => {
      const remembered = rememberedBudgets(this.#member);
      // This server can remove keys by itself, so a missing budget does not mean that spending is
      // unlimited.
      if (store.server.evicts && remembered.length > 0) throw evictingFailure();
      const { boot } = store.server;
      const cost = { most: most ?? '', reveals };
      const call = { id, ...cost, ttl: ttlMs, machine, command, endpoint, boot };
      const reply = await this.#run(store, ({ keys, args }) =>
        begin.with(keys, { ...args, ...call }, remembered),
      );
      return readBegun(reply);
    });
  }

  #settle(
    id: string,
    { endpoint }: PaidCall,
    outcome: 'paid' | 'lost',
    uncertain: Pick<PaidCall, 'most' | 'reveals'>,
    { status = null, cu = 0, reveals = 0, requestId: request = '' }: Partial<CallCost>,
  ): Promise<void> {
    const { machine } = this.#member;
    const { command } = this.#spending;
    const costs = {
      outcome,
      cu: Math.round(cu),
      uncertain: Math.ceil(uncertain.most ?? 0),
      reveals,
      uncertainReveals: uncertain.reveals ?? 0,
    };
    const call = { id, ...costs, machine, command, endpoint, status: status ?? '', request };
    return this.#report(({ keys, args }) => settle.with(keys, { ...args, ...call }));
  }

  /**
   * Sends the outcome of a call, now or when the store is available again. Never throws, because
   * the call has ended.
   */
  async #report(call: MoneyCall): Promise<void> {
    try {
      await this.#member.link.use((store) => this.#run(store, call));
    } catch {
      if (this.#unsent.length < UNSENT_MAX) this.#unsent.push(call);
    }
  }

  async #sendRest(store: StoreConnection): Promise<void> {
    for (let first = this.#unsent[0]; first; first = this.#unsent[0]) {
      await this.#run(store, first);
      this.#unsent = this.#unsent.slice(1);
    }
  }

  /**
   * Raises the sums to the service's own count, which also has calls of other programs and calls
   * that the store lost. Without `reserved`, the script takes what is reserved when it runs.
   */
  async #raise(reserved: number | '' = ''): Promise<void> {
    const { link, memory } = this.#member;
    const { unitsUsed, revealsUsed, period } = await this.#spending.meter();
    const { day = '', units = '' } = memory.read().dayStart ?? {};
    const count = {
      unitsUsed: Math.ceil(unitsUsed),
      revealsUsed: Math.ceil(revealsUsed),
      usedMonth: period,
    };
    const start = { reservedBefore: reserved, startDay: day, startUnits: units };
    const [, base] = await link.use((store) => {
      const { boot } = store.server;
      return this.#run(store, ({ keys, args }) =>
        reseed.with(keys, { ...args, ...count, boot, ...start }),
      );
    });
    memory.update(this.#dayStart(base === '' ? undefined : Number(base)));
  }

  /** The service's count when the present day began, as the store has it. */
  #dayStart(units: number | undefined) {
    return units === undefined ? {} : { dayStart: { day: this.#periods.day, units } };
  }

  #refusal({ name, limit, used, reserved }: RefusingLimit, most: number | undefined): Failure {
    const { memory } = this.#member;
    memory.update({ budgets: { ...memory.read().budgets, [name]: limit } });
    const left = Math.max(0, limit - used);
    const budget = { ...budgetNamed(name), limit, left, reserved };
    return budgetRefusal(budget, most, this.#spending.clock.now());
  }

  /** Runs a script with the keys of the present day, by the server's clock. */
  async #run(store: StoreConnection, call: MoneyCall): Promise<readonly unknown[]> {
    for (let tries = 0; tries < TRIES; tries++) {
      const reply = listReply(await store.run(...call(this.#today())));
      if (reply[0] !== 'period') return reply;
      this.#periods = periodsAt(Number(reply[1]));
    }
    throw storeFailure(
      'STORE_UNFIT',
      'the clock of the store keeps jumping between days',
      'synchronize the clock of the server, for example with NTP; then run the command again',
    );
  }

  #today(): MoneyDay {
    const { open, calls, done, sum, caps, ledger } = this.#member.link.keys;
    const { month, day } = this.#periods;
    return {
      keys: { open, calls, done, month: sum(month), day: sum(day), caps, ledger },
      args: { dayStart: Date.parse(day), thisDay: day },
    };
  }
}
