import { cu } from '../../contract/prices.ts';
import { chargeKey, type Key } from '../keys.ts';
import type { SandboxState } from '../state.ts';

const MINUTE = 60_000;
const TICK = 1_000;

/** The amount that a key must be able to pay before a connection is opened. */
export const openingPrice = ({ socketBilling }: SandboxState) => ({
  cu: socketBilling === 'started' ? cu.socketMinute : Math.ceil((cu.socketMinute * TICK) / MINUTE),
  reveals: 0,
});

/**
 * Charges a connection while it is open, and calls `charged` with each charge. Calls `outOfUnits` once when the key
 * can no longer pay. Returns a function that stops charging.
 */
export function billSocket(
  { clock, socketBilling }: SandboxState,
  key: Key,
  charged: (units: number) => void,
  outOfUnits: () => void,
): () => void {
  const opened = clock.now();
  let paid = 0;
  let cancel = () => {};

  const owed = (now: number) =>
    socketBilling === 'started'
      ? cu.socketMinute * (Math.floor((now - opened) / MINUTE) + 1)
      : Math.floor(((now - opened) * cu.socketMinute) / MINUTE);

  const settle = (): boolean => {
    const units = owed(clock.now()) - paid;
    if (units <= 0) return true;
    if (chargeKey(key, { cu: units, reveals: 0 }, clock.now())) return false;
    paid += units;
    charged(units);
    return true;
  };

  const step = socketBilling === 'started' ? MINUTE : TICK;
  const arm = (number: number) => {
    cancel = clock.at(opened + number * step, () => {
      if (settle()) arm(Math.floor((clock.now() - opened) / step) + 1);
      else outOfUnits();
    });
  };
  settle();
  arm(1);

  return () => {
    cancel();
    // Charge nothing more for `started`: if a connection closes exactly at the end of a minute, the next
    // minute has not started.
    if (socketBilling === 'elapsed') settle();
  };
}
