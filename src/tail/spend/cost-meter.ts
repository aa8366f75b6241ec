import { cu as price } from '../../contract/prices.ts';

/**
 * The cost of a run. The service does not document how it rounds minutes of the WebSocket, so there are two
 * sums.
 */
export interface TailCost {
  /** The cost of pages and of complete minutes of the WebSocket. */
  readonly least: number;
  /** The cost of pages, including lost ones, and of every started minute of the WebSocket. */
  readonly most: number;
}

/** Counts the CU for pages and for the time that a WebSocket is open. */
export interface CostMeter {
  readonly spent: TailCost;
  /** The maximum CU that the WebSocket may have cost so far. */
  readonly socket: number;
  paid(cu: number): void;
  lost(cu: number): void;
  opened(): void;
  /**
   * Counts the end of a connection, which the service may consider open for another `lingeringMs`. The caller
   * calls the returned function when the service has confirmed the end.
   */
  closed(lingeringMs: number): () => void;
  /**
   * Counts a handshake whose outcome is not known. The service may have opened the connection, and may consider it
   * open for another `lingeringMs`.
   */
  uncertain(lingeringMs: number): void;
}

const MINUTE = 60_000;
/** By how much the clocks of the service and of this machine may differ. */
const SLACK_MS = 1_000;

/** Creates a meter. If `pages` is given, it provides the cost of pages. */
export function createCostMeter(mono: () => number, pages?: () => { cu: number; atMost: number }): CostMeter {
  let cu = 0;
  let lostCu = 0;
  let openAt: number | undefined;
  let least = 0;
  let most = 0;
  const running = () => (openAt === undefined ? undefined : mono() - openAt);
  const leastOf = (ms: number) => price.socketMinute * Math.floor(ms / MINUTE);
  // The service may already have charged the next minute.
  const mostOf = (ms: number) => price.socketMinute * (Math.floor((ms + SLACK_MS) / MINUTE) + 1);
  const socket = () => {
    const ms = running();
    return ms === undefined ? most : most + mostOf(ms);
  };
  return {
    get spent() {
      const ms = running();
      const total = pages?.() ?? { cu, atMost: cu + lostCu };
      return {
        least: total.cu + least + (ms === undefined ? 0 : leastOf(Math.max(0, ms - SLACK_MS))),
        most: total.atMost + socket(),
      };
    },
    get socket() {
      return socket();
    },
    paid: (units) => {
      cu += units;
    },
    lost: (units) => {
      lostCu += units;
    },
    opened() {
      openAt = mono();
    },
    closed(lingeringMs) {
      const from = openAt;
      if (from === undefined) return () => {};
      const ms = mono() - from;
      const assumed = mostOf(ms + lingeringMs);
      least += leastOf(Math.max(0, ms - SLACK_MS));
      most += assumed;
      openAt = undefined;
      let confirmed = false;
      return () => {
        if (confirmed) return;
        confirmed = true;
        most -= Math.max(0, assumed - mostOf(mono() - from));
      };
    },
    uncertain(lingeringMs) {
      most += mostOf(lingeringMs);
    },
  };
}
