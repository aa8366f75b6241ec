import { LONGEST_RESPONSE } from '../../contract/limits.ts';
import type { Client, Ledger } from '../../contract/ports.ts';
import { known } from '../../contract/read-record.ts';
import { Me } from '../../contract/records/account.ts';
import { createStoreLedger } from '../../store/ledger.ts';
import type { Io } from '../io.ts';
import type { RunSettings } from '../settings/settings.ts';
import type { RunStore } from './open-store.ts';

/**
 * The minimum time for which a reservation is valid, in ms. No call with the default timeout takes longer, and
 * the reservation for a minute of a WebSocket is not needed for longer.
 */
const LEAST_TTL_MS = 5 * 60_000;

interface Parts {
  readonly io: Pick<Io, 'clock'>;
  readonly settings: RunSettings;
  readonly command: string;
  readonly client: () => Promise<Pick<Client, 'call'>>;
}

/** The ledger of all machines, which checks shared budgets before each call. */
export const sharedLedger = (
  { link, machine, memory }: RunStore,
  local: Ledger,
  { io, settings, command, client }: Parts,
): Ledger =>
  createStoreLedger({
    link,
    local,
    machine,
    memory,
    command,
    clock: io.clock,
    stop: settings.storeAway === 'stop',
    ttlMs: Math.max(LEAST_TTL_MS, (LONGEST_RESPONSE + 1) * (settings.timeout ?? 0)),
    async meter() {
      const { record } = await (await client()).call('me', {});
      const { usage = {} } = known(Me, record);
      return { unitsUsed: usage.unitsUsed ?? 0, period: usage.period ?? '' };
    },
  });
