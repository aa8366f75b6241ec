import { once } from '../../base/calls.ts';
import type { EndpointId } from '../../contract/endpoints.ts';
import type { CallOptions, Client, RequestParts, Result } from '../../contract/ports/client.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import type { Settings } from '../settings/settings.ts';
import type { RunParts, Target } from './connect.ts';
import type { RunStore } from './open-store.ts';
import { SpendingPermission } from './spending-permission.ts';

type ServiceNeeds = Pick<RunParts, 'terminal' | 'settings' | 'bill' | 'isStream' | 'closing'>;

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
  /** The configured service, or the embedded one, which is started on first use. */
  readonly target = once(async () => (await connecting()).openTarget(this.#parts));
  /**
   * The store that all machines of the key share; undefined if none is configured, or with
   * --sandbox.
   */
  readonly store = once(async () => (await connecting()).openShared(this.#parts));
  readonly ledger = once(async () => (await connecting()).openRunLedger(this.#parts));
  readonly client = once(async () => {
    const { openClient } = await connecting();
    const opened = [await this.target(), await this.store(), await this.ledger()] as const;
    const client = await openClient(this.#parts, ...opened);
    this.#parts.bill.client = client;
    return client;
  });
  readonly #parts: RunParts;

  constructor(needs: ServiceNeeds) {
    const { terminal, settings, bill } = needs;
    this.scope = scopeOf(settings);
    this.permission = new SpendingPermission({
      terminal,
      confirmAbove: settings.confirmAbove,
      maxCu: settings.maxCu,
      maxReveals: settings.flags.maxReveals,
      yes: settings.flags.yes,
      sandbox: settings.flags.sandbox,
      spent: () => bill.atMost,
      left: async () => lookAtAccount(await this.client(), terminal.signal),
      budgets: async () => {
        const { shortBudgets } = await import('./budgets.ts');
        return shortBudgets({ terminal, settings, service: this });
      },
    });
    const { permission, target, store, client } = this;
    this.#parts = { ...needs, permission, target, store, client, closers: [] };
  }

  /** The store of a command that requires one. */
  async needStore(): Promise<RunStore> {
    const store = await this.store();
    if (store !== undefined) return store;
    throw (await import('./open-store.ts')).noStore(this.#parts.settings.flags.sandbox);
  }

  /** A client for another service or key, for the commands that check keys. */
  async connect(target: Target): Promise<Client> {
    return (await connecting()).connectTo(this.#parts, target);
  }

  async call<Id extends EndpointId>(
    id: Id,
    ask: RequestParts<Id>,
    options: CallOptions = { signal: this.#parts.terminal.signal },
  ): Promise<Result<Id>> {
    return await (await this.client()).call(id, ask, options);
  }

  /** Whether the confirmed cost and the spending limit cover another `cu`. */
  affords(cu: number): boolean {
    return this.#parts.bill.client?.affords(cu) ?? true;
  }

  /** Closes what was opened, last first. */
  async close(): Promise<void> {
    for (const close of this.#parts.closers.splice(0).reverse()) await close();
  }
}

const connecting = () => import('./connect.ts');

/** The sandbox has a fixed scope, because its answers are the same on every port. */
function scopeOf({ flags, baseUrl, key }: Settings): Service['scope'] {
  if (flags.sandbox) return { baseUrl: 'sandbox:', key: async () => () => 'sandbox' };
  if (baseUrl === undefined || !key.isSet) return undefined;
  return {
    baseUrl,
    async key() {
      await key.get();
      return () => key.present ?? '';
    },
  };
}
