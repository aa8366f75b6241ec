import { cu as price } from '../../contract/prices.ts';

/** The cost of a run. How the service rounds socket minutes is undocumented, so there are two sums. */
export interface TailCost {
  /** Pages and complete minutes of the socket. */
  readonly least: number;
  /** Pages including lost ones, and every started minute of the socket. */
  readonly most: number;
}

/** Counts CU: of pages, and of the time a socket is open. */
export interface CostMeter {
  readonly spent: TailCost;
  /** The maximum cost of the socket. */
  readonly socket: number;
  paid(cu: number): void;
  lost(cu: number): void;
  opened(): void;
  /**
   * Ends a connection. The service may consider it open for another `lingeringMs`; the returned function is called when
   * it confirms the end.
   */
  closed(lingeringMs: number): () => void;
  /** Counts a handshake with an unknown outcome: a minute may have started. */
  uncertain(): void;
}

const MINUTE = 60_000;
/** The maximum difference between the clocks of the service and of this machine. */
const SLACK_MS = 1_000;

/** Creates a meter; `pages` replaces its own count of pages if the client counts them. */
export function createCostMeter(mono: () => number, pages?: () => { cu: number; atMost: number }): CostMeter {
  let cu = 0;
  let lostCu = 0;
  let openAt: number | undefined;
  let least = 0;
  let most = 0;
  const running = () => (openAt === undefined ? undefined : mono() - openAt);
  const leastOf = (ms: number) => price.socketMinute * Math.floor(ms / MINUTE);
  // A minute may have started at the service already.
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
    uncertain() {
      most += price.socketMinute;
    },
  };
}
