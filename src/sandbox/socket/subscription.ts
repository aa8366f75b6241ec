import * as z from 'zod/mini';
import { plainJson } from '../../base/json-object.ts';
import { ClientFrame, type Subscription } from '../../contract/frames.ts';
import { SOCKET_TOKENS_MAX } from '../../contract/limits.ts';
import { normalAddress } from '../world/address.ts';

interface SubscriptionState {
  readonly subscription: Subscription | null;
  readonly matches: (tokenAddress: string | null) => boolean;
}

export const unsubscribed: SubscriptionState = { subscription: null, matches: () => false };

/** Applies a frame of the client. Returns the new subscription and the frames to send back. */
export function applyClientFrame(
  current: SubscriptionState,
  text: string | null,
): { readonly state: SubscriptionState; readonly answers: readonly unknown[] } {
  const reject = (error: string) => ({ state: current, answers: [{ type: 'error', error }] });
  const json = text === null ? undefined : plainJson(text);
  if (json === undefined) return reject('A frame must be JSON text.');
  const frame = z.safeParse(ClientFrame, json);
  if (!frame.success)
    return reject('A frame must be {type: "subscribe", subscription} or {type: "unsubscribe"}.');
  if (frame.data.type === 'unsubscribe') {
    return { state: unsubscribed, answers: [{ type: 'subscription', subscription: null }] };
  }
  const requested = frame.data.subscription;
  if (requested.type === 'tokens' && requested.tokens.length > SOCKET_TOKENS_MAX) {
    return reject(
      `${requested.tokens.length} addresses were sent; a subscription can contain at most ${SOCKET_TOKENS_MAX}.`,
    );
  }
  const state = subscribeTo(requested);
  const { subscription: previous } = current;
  const answers: unknown[] = [{ type: 'subscription', subscription: state.subscription }];
  if (previous) answers.unshift({ type: 'replaced', previous });
  return { state, answers };
}

function subscribeTo(requested: Subscription): SubscriptionState {
  if (requested.type === 'all') return { subscription: { type: 'all' }, matches: () => true };
  const tokens = [...new Set(requested.tokens.map(normalAddress))];
  const named = new Set(tokens);
  return {
    subscription: { type: 'tokens', tokens },
    matches: (token) => token !== null && named.has(normalAddress(token)),
  };
}
