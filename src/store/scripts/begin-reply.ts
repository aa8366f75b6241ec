import { number } from '../replies.ts';

/** The answer of `begin`. Only after `reserved` and `held` may the call be sent. */
export type BeginReply =
  /** `dayStart` is the service's count when the day began; undefined if the store has none. */
  | {
      readonly is: 'reserved';
      readonly dayStart: number | undefined;
      readonly limits: Readonly<Record<string, number>>;
    }
  /** An earlier request with this id has reserved the cost. */
  | { readonly is: 'held' }
  /** The reservation with this id has ended: the caller tries again with another id. */
  | { readonly is: 'ended' }
  /** The server was restarted: the sums must be raised to the service's count first. */
  | { readonly is: 'restarted' }
  /** The sums are old: the caller raises them, and tries again meanwhile. */
  | { readonly is: 'old'; readonly reserved: number }
  /** The store has lost these budgets. */
  | { readonly is: 'gone'; readonly budgets: readonly string[] }
  /** A budget does not cover the call, or its cost is not known. */
  | ({ readonly is: 'refused' } & RefusingLimit);

export interface RefusingLimit {
  readonly name: string;
  readonly limit: number;
  readonly used: number;
  /** The part of `used` that is reserved for calls in flight. */
  readonly reserved: number;
}

export function readBegun(reply: readonly unknown[]): BeginReply {
  const [word, first, ...rest] = reply;
  switch (word) {
    case 'ok':
      return {
        is: 'reserved',
        dayStart: first === '' ? undefined : Number(first),
        limits: limitsIn(rest),
      };
    case 'held':
      return { is: 'held' };
    case 'over':
      return { is: 'ended' };
    case 'reseed':
      return { is: 'restarted' };
    case 'refresh':
      return { is: 'old', reserved: Number(first) };
    case 'gone':
      return { is: 'gone', budgets: reply.slice(1).map(String) };
    case 'unpriced':
    case 'refused': {
      const [limit = 0, used = 0, reserved = 0] = rest.map(number);
      return { is: 'refused', name: String(first), limit, used, reserved };
    }
    default:
      throw new Error(`unknown answer of a script: ${String(word)}`);
  }
}

/** Budgets and their limits, in turn. */
function limitsIn(flat: readonly unknown[]): Record<string, number> {
  const limits: Record<string, number> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) limits[String(flat[at])] = Number(flat[at + 1]);
  return limits;
}
