import type { Subscription } from '../../contract/frames.ts';
import type { Link } from '../ports.ts';
import { readFrame } from './frame.ts';
import { confirms } from './other-frame.ts';

/** A connection that can put the last frame that was read back into its queue. */
export interface SubscribingLink extends Link {
  putBack(raw: Uint8Array): void;
}

export function withPutBack(link: Link): SubscribingLink {
  let returned: Uint8Array | undefined;
  return {
    next() {
      const raw = returned ?? link.next();
      returned = undefined;
      return raw;
    },
    putBack(raw) {
      returned = raw;
    },
    get held() {
      return link.held + (returned?.byteLength ?? 0);
    },
    get signs() {
      return link.signs;
    },
    get end() {
      return link.end;
    },
    send: (text) => link.send(text),
    ping: () => link.ping?.(),
    close: () => link.close(),
  };
}

/** The response of the service to a subscription. */
type Confirmation = { readonly kind: 'confirmed' } | { readonly kind: 'rejected'; readonly text: string };

/**
 * Reads frames until one confirms or rejects the subscription. A matching response confirms it, and so does a
 * post, which is put back into the queue. Returns undefined if no frame has decided yet.
 */
export function readConfirmation(link: SubscribingLink, asked: Subscription): Confirmation | undefined {
  for (let raw = link.next(); raw; raw = link.next()) {
    const frames = readFrame(raw);
    const error = frames.find(({ kind }) => kind === 'error');
    if (error?.kind === 'error') return { kind: 'rejected', text: error.text };
    const hasPosts = frames.some(({ kind }) => kind === 'row' || kind === 'nameless');
    if (hasPosts) link.putBack(raw);
    const isAnswered = frames.some((frame) => frame.kind === 'subscription' && confirms(frame.stated, asked));
    if (hasPosts || isAnswered) return { kind: 'confirmed' };
  }
  return undefined;
}
