import type { Clock } from '../../base/clock.ts';
import { SOCKET_PING_SECONDS } from '../../contract/limits.ts';
import type { Ledger, Reservation } from '../../contract/ports.ts';
import { cu } from '../../contract/prices.ts';

/** Records the minutes of one connection in the ledger, each minute before it starts. */
export interface SocketMinutes {
  /** Called when the connection is open. */
  opened(): void;
  /** Called when data was received from the service. */
  alive(): void;
  /**
   * Records each minute in advance until the signal is aborted. Rejects if a budget does not cover the next
   * minute.
   */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Called when the connection has ended, or when the handshake had no response. `known` means that the
   * service has certainly stopped charging.
   */
  end(known: boolean): Promise<void>;
  /** Called when the handshake was rejected, so that no minute has started. */
  refused(): Promise<void>;
}

const MINUTE = 60_000;
/** By how much the clocks of the service and of this machine may differ. */
const SLACK_MS = 1_000;
/** The service notices after at most two pings that the client no longer answers, and charges until then. */
const LINGER_MS = 2 * SOCKET_PING_SECONDS * 1_000;

/**
 * Prepares a connection: records its first minutes in the ledger before the connection is opened. The recorded
 * minutes always include a reserve: the time that the service needs to notice that a client was killed. So no
 * minute is missing after a kill or a crash. A minute counts as certainly charged when data was received after its
 * end.
 */
export async function recordSocketMinutes(
  { mono, now, sleep }: Clock,
  ledger: Ledger,
): Promise<SocketMinutes> {
  const minutes: Reservation[] = [];
  let from = { mono: mono(), wall: now() };
  let heardAt = 0;
  let settled = 0;
  let ending: Promise<void> | undefined;

  /**
   * The time since the connection was opened, by the clock that has advanced further: on some systems, the
   * monotonic clock stops while the machine is suspended.
   */
  const elapsed = () => Math.max(0, mono() - from.mono, now() - from.wall);
  const startedBy = (ms: number) => Math.floor((ms + SLACK_MS) / MINUTE) + 1;

  async function cover(ms: number): Promise<void> {
    while (minutes.length < startedBy(ms)) {
      minutes.push(await ledger.begin({ endpoint: 'ws', most: cu.socketMinute }));
    }
  }

  async function settleCertain(): Promise<void> {
    const certain = Math.min(minutes.length, Math.floor(Math.max(0, heardAt - SLACK_MS) / MINUTE));
    while (settled < certain) await minutes[settled++]?.settle({ status: 101, cu: cu.socketMinute });
  }

  async function close(known: boolean): Promise<void> {
    const lasted = elapsed();
    // After this long without data, the service must have closed the connection. Data that arrives later was
    // buffered on the way.
    const stale = lasted - heardAt > LINGER_MS + SLACK_MS;
    const most = startedBy(known && !stale ? lasted : heardAt + LINGER_MS);
    await settleCertain();
    for (const [at, minute] of minutes.entries()) {
      if (at >= most) await minute.release();
      else if (at >= settled) await minute.lose({ status: 101 });
    }
  }

  await cover(LINGER_MS);
  return {
    opened() {
      from = { mono: mono(), wall: now() };
    },
    alive() {
      const at = elapsed();
      if (at - heardAt <= LINGER_MS + SLACK_MS) heardAt = at;
    },
    async run(signal) {
      while (!signal.aborted && !ending) {
        const due = minutes.length * MINUTE - SLACK_MS - LINGER_MS;
        await sleep(Math.max(0, due - elapsed()), signal).catch(() => {});
        if (signal.aborted || ending) return;
        await settleCertain();
        await cover(elapsed() + LINGER_MS);
      }
    },
    end(known) {
      ending ??= close(known);
      return ending;
    },
    async refused() {
      ending ??= Promise.all(minutes.map((minute) => minute.release())).then(() => {});
      return ending;
    },
  };
}
