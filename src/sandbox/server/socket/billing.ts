import { cu } from '../../../contract/prices.ts';
import type { SandboxClock } from '../../clock.ts';
import type { Key } from '../../keys/key.ts';

/**
 * Whether a started minute is charged in full, or time is charged as it passes. The service description does
 * not state this.
 */
export type SocketBilling = 'started' | 'elapsed';

const MINUTE = 60_000;
const TICK = 1_000;

/** The amount that a key must be able to pay before a connection is opened. */
export const openingPrice = (billing: SocketBilling) => ({
  cu: billing === 'started' ? cu.socketMinute : Math.ceil((cu.socketMinute * TICK) / MINUTE),
  reveals: 0,
});

/**
 * Charges a connection while it is open. Calls `outOfUnits` once when the key can no longer pay. Returns a
 * function that stops charging.
 */
export function billSocket(
  key: Key,
  clock: SandboxClock,
  billing: SocketBilling,
  charged: (units: number) => void,
  outOfUnits: () => void,
): () => void {
  const opened = clock.now();
  let paid = 0;
  let cancel = () => {};

  const owed = (now: number) =>
    billing === 'started'
      ? cu.socketMinute * (Math.floor((now - opened) / MINUTE) + 1)
      : Math.floor(((now - opened) * cu.socketMinute) / MINUTE);

  const settle = (): boolean => {
    const charge = { cu: owed(clock.now()) - paid, reveals: 0 };
    if (charge.cu <= 0) return true;
    if (key.meter.shortage(charge)) return false;
    key.meter.spend(charge);
    paid += charge.cu;
    charged(charge.cu);
    return true;
  };

  const step = billing === 'started' ? MINUTE : TICK;
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
    if (billing === 'elapsed') settle();
  };
}
