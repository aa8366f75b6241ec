import type { Clock } from '../../base/clock.ts';
import { Failure } from '../../base/failure.ts';
import { cu, SOCKET_PATH } from '../../contract/endpoints.ts';
import type { LedgerEntry } from '../../contract/ports.ts';
import { withoutKeyBytes } from '../../core/client/mask-key.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import { openLedger } from '../../state/ledger.ts';
import type { Connect, Link } from '../../tail/ports.ts';
import { createConnect } from '../../tail/socket/connection.ts';
import type { Context } from '../context.ts';
import { version } from '../version.ts';

const MINUTE = 60_000;

/** The live feed of the service in use; each started minute of it is written down as it begins. */
export function socketOf(
  context: Context,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string | undefined },
): Connect {
  const { io, settings, command } = context;
  const { origin, prefix } = parseBaseUrl(baseUrl, { insecureHttp: settings.insecureHttp });
  const connect = createConnect({
    url: `${origin.replace(/^http/, 'ws')}${prefix}${SOCKET_PATH}`,
    key: key ?? '',
    userAgent: `trdr/${version}`,
    env: io.env,
    now: io.clock.now,
  });
  const ledger = openLedger({ dir: settings.folders.state, notice: context.notice });
  const enter = (entry: Pick<LedgerEntry, 'status' | 'cu' | 'cuAtMost'>) =>
    ledger.append({
      time: io.clock.now(),
      command,
      profile: settings.profile,
      endpoint: 'ws',
      ...entry,
    });

  return async (stir, signal) => {
    let link: Link;
    try {
      link = await connect(stir, signal);
    } catch (error) {
      // A handshake that was sent and not answered may have begun a minute.
      if (error instanceof Failure && error.code === 'BROKEN') {
        enter({ status: null, cu: 0, cuAtMost: cu.socketMinute });
      }
      throw error;
    }
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    void countMinutes(io.clock, until, () => {
      if (link.end === undefined) enter({ status: 101, cu: cu.socketMinute });
    });
    return {
      next() {
        const frame = link.next();
        return frame && withoutKeyBytes(frame, key);
      },
      get held() {
        return link.held;
      },
      get signs() {
        return link.signs;
      },
      get end() {
        if (link.end) over.abort();
        return link.end;
      },
      send: link.send,
      ping: () => link.ping?.(),
      close() {
        over.abort();
        return link.close();
      },
    };
  };
}

/** Counts each minute as it begins, by the time since the first: waits that end late do not add up. */
async function countMinutes({ mono, sleep }: Clock, until: AbortSignal, count: () => void): Promise<void> {
  const began = mono();
  try {
    for (let minute = 1; ; minute++) {
      count();
      await sleep(Math.max(0, began + minute * MINUTE - mono()), until);
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}
