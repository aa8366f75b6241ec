import { once } from '../../base/calls.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { CallOptions, Client, RequestParts, Result } from '../../contract/ports/client.ts';
import type { Ledger } from '../../contract/ports/ledger.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import type { ServiceKey } from '../../core/client/service-key.ts';
import type { Settings } from '../settings/settings.ts';
import type { Bill } from './bill.ts';
import type { RunStore } from './open-store.ts';
import { SpendingPermission } from './spending-permission.ts';
import type { Terminal } from './terminal.ts';

/** A base URL and the key for it. */
export interface Target {
  readonly baseUrl: string;
  readonly key: ServiceKey;
  /** Whether it is the embedded sandbox, which ends with the run. */
  readonly embedded: boolean;
}

export interface ServiceNeeds {
  readonly terminal: Terminal;
  readonly settings: Settings;
  readonly bill: Bill;
  /** Whether the command prints records until it is stopped. */
  readonly isStream: boolean;
  /** Aborted when the output can no longer be written. */
  readonly closing: AbortSignal;
}

/**
 * The service of a run and what its calls need: client, store, ledger, permission. Each part is
 * opened on first use, because a run that finds everything in the cache opens none of them.
 */
export class Service {
  readonly permission: SpendingPermission;
  /**
   * What cached answers belong to; undefined if not configured. The sandbox has its own base URL
   * and key. `key` resolves to what returns the key of the run, also after it was replaced.
   */
  readonly scope:
    | { readonly baseUrl: string; readonly key: () => Promise<() => string> }
    | undefined;
  readonly #bill: Bill;
  readonly #closers: (() => unknown)[] = [];
  readonly #connections;

  constructor(needs: ServiceNeeds) {
    const { terminal, settings, bill } = needs;
    this.#bill = bill;
    this.scope = scopeOf(settings);
    this.permission = new SpendingPermission({
      terminal,
      confirmAbove: settings.confirmAbove,
      maxCu: settings.maxCu,
      yes: settings.flags.yes,
      sandbox: settings.flags.sandbox,
      spent: () => bill.atMost,
      left: async () => lookAtAccount(await this.client(), terminal.signal),
      budgets: async () => {
        const { shortBudgets } = await import('./budgets.ts');
        return shortBudgets({ terminal, settings, service: this });
      },
    });
    this.#connections = once(async () => {
      const { Connections } = await import('./connect.ts');
      return new Connections(needs, this.permission, this.#closers);
    });
  }

  /** The configured service, or the embedded one, which is started on first use. */
  async target(): Promise<Target> {
    return await (await this.#connections()).target();
  }

  async client(): Promise<Client> {
    const client = await (await this.#connections()).client();
    this.#bill.client = client;
    return client;
  }

  /**
   * The store that all machines of the key share; undefined if none is configured, or with
   * --sandbox.
   */
  async store(): Promise<RunStore | undefined> {
    return await (await this.#connections()).store();
  }

  async ledger(): Promise<Ledger> {
    return await (await this.#connections()).ledger();
  }

  /** A client for another service or key, for the commands that check keys. */
  async connect(target: Target): Promise<Client> {
    return await (await this.#connections()).connect(target);
  }

  async call<Id extends EndpointId>(
    id: Id,
    ask: RequestParts<Id>,
    options?: CallOptions,
  ): Promise<Result<Id>> {
    return await (await this.client()).call(id, ask, options);
  }

  /** Whether the confirmed cost and the spending limit cover another `cu`. */
  affords(cu: number): boolean {
    return this.#bill.client?.affords(cu) ?? true;
  }

  /** Closes what was opened, last first. */
  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }
}

/** The sandbox has a fixed scope, because its answers are the same on every port. */
function scopeOf({ flags, baseUrl, key }: Settings): Service['scope'] {
  if (flags.sandbox) return { baseUrl: 'sandbox:', key: async () => () => 'sandbox' };
  if (baseUrl === undefined || !key.isSet) return undefined;
  return {
    baseUrl,
    async key() {
      await key.get();
      return () => key.known ?? '';
    },
  };
}
