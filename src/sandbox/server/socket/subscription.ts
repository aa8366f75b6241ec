import * as z from 'zod/mini';
import { ClientFrame, type Subscription } from '../../../contract/frames.ts';
import { SOCKET_TOKENS_MAX } from '../../../contract/limits.ts';
import { normalAddress } from '../../world/address.ts';

/** What one connection listens to, and what it answers to a frame. Pure: no socket in here. */
export interface Listening {
  readonly subscription: Subscription | null;
  readonly matches: (tokenAddress: string | null) => boolean;
}

export const listeningToNothing: Listening = { subscription: null, matches: () => false };

/** Takes a client's frame: the answers to it, and what is listened to from then on. */
export function takeFrame(
  current: Listening,
  text: string | null,
): { readonly listening: Listening; readonly answers: readonly unknown[] } {
  const reject = (error: string) => ({ listening: current, answers: [{ type: 'error', error }] });
  const json = text === null ? undefined : parseJson(text);
  if (json === undefined) return reject('A frame is a JSON text.');
  const frame = z.safeParse(ClientFrame, json);
  if (!frame.success) return reject('A frame is {type: "subscribe", subscription} or {type: "unsubscribe"}.');
  if (frame.data.type === 'unsubscribe') {
    return { listening: listeningToNothing, answers: [{ type: 'subscription', subscription: null }] };
  }
  const asked = frame.data.subscription;
  if (asked.type === 'tokens' && asked.tokens.length > SOCKET_TOKENS_MAX) {
    return reject(
      `${asked.tokens.length} addresses were named; a subscription names at most ${SOCKET_TOKENS_MAX}.`,
    );
  }
  const listening = listenTo(asked);
  const { subscription: previous } = current;
  const answers: unknown[] = [{ type: 'subscription', subscription: listening.subscription }];
  if (previous) answers.unshift({ type: 'replaced', previous });
  return { listening, answers };
}

function listenTo(asked: Subscription): Listening {
  if (asked.type === 'all') return { subscription: { type: 'all' }, matches: () => true };
  const tokens = [...new Set(asked.tokens.map(normalAddress))];
  const named = new Set(tokens);
  return {
    subscription: { type: 'tokens', tokens },
    matches: (token) => token !== null && named.has(normalAddress(token)),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
