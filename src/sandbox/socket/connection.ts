import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import * as z from 'zod/mini';
import { plainJson } from '../../base/json-object.ts';
import { createRecentSet } from '../../base/recent-set.ts';
import { CLOSE_QUOTA, ClientFrame, type Subscription } from '../../contract/frames.ts';
import { cu, SOCKET_PING_SECONDS, SOCKET_TOKENS_MAX } from '../../contract/limits.ts';
import { type Disconnect, fateOfFrame, framesFor, isDisconnect } from '../faults/effects.ts';
import { chargeKey, type Key } from '../keys.ts';
import { nextId, type OpenSocket, type SandboxState } from '../state.ts';
import { normalAddress } from '../world/lookup-keys.ts';

const PING_MS = SOCKET_PING_SECONDS * 1_000;
const MINUTE = 60_000;
export const socketMinute = { cu: cu.socketMinute, reveals: 0 };
/** How long `advance` of the clock waits for the pong of a ping, in real time. */
const PONG_GRACE_MS = 5_000;
/** The description says that a thesis is sent once, not for how long the service remembers it. */
const REMEMBERED = 50_000;

/**
 * One WebSocket of a client: its subscription, its bill, its pings, and what its faults do to
 * frames.
 */
export class ClientConnection implements OpenSocket {
  readonly #sandbox: SandboxState;
  readonly #key: Key;
  readonly #ws: WebSocket;
  readonly #raw: Socket;
  readonly #charged: (units: number) => void;
  readonly #sent = createRecentSet(REMEMBERED);
  readonly #cancels = new Set<() => void>();
  #subscription: Subscription | null = null;
  /** Called when the pong of a ping arrives; null if no ping waits for its pong. */
  #onPong: (() => void) | null = null;
  /** The frame that `reorder` keeps until the next one. */
  #delayed: string | null = null;
  /** Whether the line is cut without a word (`halfopen`). */
  #isSilent = false;

  constructor(
    sandbox: SandboxState,
    key: Key,
    ws: WebSocket,
    raw: Socket,
    charged: (units: number) => void,
  ) {
    this.#sandbox = sandbox;
    this.#key = key;
    this.#ws = ws;
    this.#raw = raw;
    this.#charged = charged;
  }

  /** Greets the client, and charges the first minute, which is paid at its start. */
  open(): void {
    const ws = this.#ws;
    this.#sandbox.sockets.add(this);
    ws.on('pong', () => this.#onPong?.());
    ws.on('close', () => this.#end());
    ws.on('error', () => this.#end());
    ws.on('message', (data: RawData, binary: boolean) => {
      this.#receive(binary ? '' : data.toString());
    });
    this.#write({ type: 'ready', connectionId: nextId(this.#sandbox, 'ws') });
    this.#bill();
    this.#later(PING_MS, () => this.#ping());
    for (const { kind, ms } of this.#sandbox.faults.triggerTimed()) {
      if (isDisconnect(kind)) this.#later(ms, () => this.disconnect(kind));
    }
  }

  /** Sends a post, unless the subscription lacks its token or the client has it. */
  offer(id: string, tokenAddress: string | null, text: string): void {
    if (this.#isSilent || !this.#matches(tokenAddress) || !this.#sent.add(id)) return;
    const triggered = this.#sandbox.faults.trigger('frame', 'ws');
    const send = () => {
      for (const frame of framesFor(text, triggered)) this.#send(frame);
    };
    const fate = fateOfFrame(triggered);
    if (fate.kind === 'end') this.disconnect(fate.how);
    else if (fate.kind === 'delay') this.#later(fate.ms, send);
    else if (fate.kind === 'reorder' && this.#delayed === null) this.#hold(text, fate.ms);
    else send();
  }

  disconnect(how: Disconnect, code = 1001): void {
    if (how === 'halfopen') {
      // Simulate an unplugged cable: neither read nor send nor close anything.
      this.#isSilent = true;
      this.#raw.pause();
      return;
    }
    if (how === 'close') this.#ws.close(code);
    else this.#ws.terminate();
    this.#end();
  }

  #end(): void {
    if (!this.#sandbox.sockets.delete(this)) return;
    for (const cancel of this.#cancels) cancel();
    this.#onPong?.();
  }

  /**
   * Charges a started minute in full, at its start. The description does not say whether the
   * service does so or charges the time that passes; this is the dearer way, so limits that hold
   * here hold there.
   */
  #bill(): void {
    this.#later(MINUTE, () => this.#bill());
    if (!chargeKey(this.#key, socketMinute, this.#sandbox.clock.now())) {
      this.#charged(socketMinute.cu);
      return;
    }
    this.#ws.close(CLOSE_QUOTA, 'Out of units.');
    this.#end();
  }

  /** Sends a ping, or ends the connection if the previous ping was not answered. */
  #ping(): Promise<void> | undefined {
    if (this.#onPong) {
      if (!this.#isSilent) this.#ws.terminate();
      this.#end();
      return undefined;
    }
    this.#later(PING_MS, () => this.#ping());
    const answer = new Promise<void>((resolve) => {
      const grace = setTimeout(resolve, this.#isSilent ? 0 : PONG_GRACE_MS).unref();
      this.#onPong = () => {
        clearTimeout(grace);
        this.#onPong = null;
        resolve();
      };
    });
    if (!this.#isSilent) this.#ws.ping();
    return answer;
  }

  #receive(text: string): void {
    const previous = this.#subscription;
    const requested = readFrame(text);
    if (typeof requested === 'string') {
      // A rejected frame changes nothing, and does not close the socket.
      this.#write({ type: 'error', error: requested });
      return;
    }
    this.#subscription = requested;
    if (previous && requested) this.#write({ type: 'replaced', previous });
    this.#write({ type: 'subscription', subscription: requested });
  }

  #matches(token: string | null): boolean {
    const subscription = this.#subscription;
    if (subscription?.type !== 'tokens') return subscription !== null;
    return token !== null && subscription.tokens.includes(normalAddress(token));
  }

  /** Keeps a frame until the next one is sent, or for `ms` milliseconds. */
  #hold(text: string, ms: number): void {
    this.#delayed = text;
    this.#later(ms, () => {
      if (this.#delayed !== text) return;
      this.#delayed = null;
      this.#writeText(text);
    });
  }

  /** Sends a frame, and then the one that was held. */
  #send(text: string): void {
    this.#writeText(text);
    if (this.#delayed === null) return;
    this.#writeText(this.#delayed);
    this.#delayed = null;
  }

  #write(frame: object): void {
    this.#writeText(JSON.stringify(frame));
  }

  #writeText(text: string): void {
    if (!this.#isSilent && this.#ws.readyState === this.#ws.OPEN) this.#ws.send(text);
  }

  /** Cancelled when the connection ends. */
  #later(ms: number, task: () => unknown): void {
    const { clock } = this.#sandbox;
    const cancel = clock.at(clock.now() + ms, () => {
      this.#cancels.delete(cancel);
      return task();
    });
    this.#cancels.add(cancel);
  }
}

/**
 * The subscription that a frame of the client requests, null to unsubscribe, or the text of an
 * error.
 */
function readFrame(text: string): Subscription | null | string {
  const json = plainJson(text);
  if (json === undefined) return 'A frame must be JSON text.';
  const frame = z.safeParse(ClientFrame, json);
  if (!frame.success)
    return 'A frame must be {type: "subscribe", subscription} or {type: "unsubscribe"}.';
  if (frame.data.type === 'unsubscribe') return null;
  const requested = frame.data.subscription;
  if (requested.type === 'all') return { type: 'all' };
  const { tokens } = requested;
  // The description promises to ignore the case of an address in paths only, so this does not.
  return tokens.length > SOCKET_TOKENS_MAX
    ? `${tokens.length} addresses were sent; a subscription can contain at most ${SOCKET_TOKENS_MAX}.`
    : { type: 'tokens', tokens: [...new Set(tokens)] };
}
