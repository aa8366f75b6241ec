import { cu as price } from '../../contract/endpoints.ts';

/** What a run has spent. How the service rounds the socket's minutes is not stated, so there are two sums. */
export interface TailCost {
  /** Pages, and whole minutes of the socket. */
  readonly least: number;
  /** Pages, those too whose answer was lost, and every started minute of the socket. */
  readonly most: number;
}

/** Counts units: pages as they are paid for, the socket by the time it is held. */
export interface CostMeter {
  readonly spent: TailCost;
  /** What the socket has used at most. */
  readonly socket: number;
  paid(cu: number): void;
  lost(cu: number): void;
  opened(): void;
  /**
   * `lingering` says how much longer the service may think the connection open. The answer is called when it
   * turns out that the service has heard of the end.
   */
  closed(lingeringMs: number): () => void;
  /** A handshake was sent whose outcome is not known: a minute may have been started. */
  doubted(): void;
}

const MINUTE = 60_000;
/** How far the service's count of a connection's time may be from this one. */
const SLACK_MS = 1_000;

/** A meter on a monotonic clock; `pages` replaces its own count of pages if the client counts them. */
export function createCostMeter(mono: () => number, pages?: () => { cu: number; atMost: number }): CostMeter {
  let cu = 0;
  let doubtful = 0;
  let openAt: number | undefined;
  let least = 0;
  let most = 0;
  const running = () => (openAt === undefined ? undefined : mono() - openAt);
  const leastOf = (ms: number) => price.socketMinute * Math.floor(ms / MINUTE);
  // A minute may have started while the news of it was on its way.
  const mostOf = (ms: number) => price.socketMinute * (Math.floor((ms + SLACK_MS) / MINUTE) + 1);
  const socket = () => {
    const ms = running();
    return ms === undefined ? most : most + mostOf(ms);
  };
  return {
    get spent() {
      const ms = running();
      const books = pages?.() ?? { cu, atMost: cu + doubtful };
      return {
        least: books.cu + least + (ms === undefined ? 0 : leastOf(Math.max(0, ms - SLACK_MS))),
        most: books.atMost + socket(),
      };
    },
    get socket() {
      return socket();
    },
    paid: (units) => {
      cu += units;
    },
    lost: (units) => {
      doubtful += units;
    },
    opened() {
      openAt = mono();
    },
    closed(lingeringMs) {
      const from = openAt;
      if (from === undefined) return () => {};
      const ms = mono() - from;
      const feared = mostOf(ms + lingeringMs);
      least += leastOf(Math.max(0, ms - SLACK_MS));
      most += feared;
      openAt = undefined;
      let heard = false;
      return () => {
        if (heard) return;
        heard = true;
        most -= Math.max(0, feared - mostOf(mono() - from));
      };
    },
    doubted() {
      most += price.socketMinute;
    },
  };
}
