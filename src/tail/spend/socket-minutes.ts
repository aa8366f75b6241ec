import type { Clock } from '../../base/clock.ts';
import { cu } from '../../contract/endpoints.ts';
import { SOCKET_PING_SECONDS } from '../../contract/limits.ts';
import type { Ledger, Reservation } from '../../contract/ports.ts';

/** Records the minutes of one connection, each before it begins. */
export interface SocketMinutes {
  /** The connection is open. */
  opened(): void;
  /** Something was received. */
  alive(): void;
  /** Records each minute ahead until the signal is aborted. Rejects where a budget cannot hold the next one. */
  run(signal: AbortSignal): Promise<void>;
  /** The connection is over, or was never answered; `known` says that the service knows and has stopped counting. */
  end(known: boolean): Promise<void>;
  /** The connection was refused: no minute has begun. */
  refused(): Promise<void>;
}

const MINUTE = 60_000;
/** How far the service's count of a connection's time may be from this one. */
const SLACK_MS = 1_000;
/** A connection that answers no ping is closed by the next one, and charged until then. */
const LINGER_MS = 2 * SOCKET_PING_SECONDS * 1_000;

/**
 * Starts to record a connection that is about to be opened. What is recorded always reaches to the moment at which the
 * service would notice that this machine has vanished, so a kill or a crash leaves no minute out. A minute is certain
 * once something was received after its end.
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

  /** Time since the connection was opened; the monotonic clock of some systems stands still while they sleep. */
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
    // Silent for longer than the service allows: it has closed the connection meanwhile, whatever arrives now.
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
