import { cu, SOCKET_PATH } from '../../contract/endpoints.ts';
import { parseBaseUrl } from '../../core/base-url.ts';
import type { LedgerEntry } from '../../core/ports.ts';
import type { Connect } from '../../feed/ports.ts';
import { createConnect } from '../../feed/socket.ts';
import { openLedger } from '../../state/ledger.ts';
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
  const ledger = openLedger({ dir: settings.folders.state, notice: context.say });
  const minute = (): LedgerEntry => ({
    time: io.clock.now(),
    command,
    profile: settings.profile,
    endpoint: 'ws',
    status: 101,
    cu: cu.socketMinute,
  });
  return async (stir, signal) => {
    const link = await connect(stir, signal);
    const over = new AbortController();
    void countMinutes(io.clock.sleep, AbortSignal.any([signal, over.signal]), () => {
      if (link.end === undefined) ledger.append(minute());
    });
    return {
      next: () => link.next(),
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
      send: (text) => link.send(text),
      close() {
        over.abort();
        link.close();
      },
    };
  };
}

async function countMinutes(
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  until: AbortSignal,
  count: () => void,
): Promise<void> {
  try {
    for (;;) {
      count();
      await sleep(MINUTE, until);
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}
