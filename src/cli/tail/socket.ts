import { Failure } from '../../base/failure.ts';
import { SOCKET_PATH } from '../../contract/endpoints.ts';
import { createByteMask } from '../../core/client/mask-key.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import type { Connect, Link, LinkEnd } from '../../tail/ports.ts';
import { createConnect } from '../../tail/socket/connection.ts';
import { recordSocketMinutes } from '../../tail/spend/socket-minutes.ts';
import type { Context } from '../context.ts';
import { version } from '../version.ts';

/** Opens the live feed. Each minute of the connection is recorded in the ledger before it starts. */
export function socketOf(
  { io, settings, ledger }: Context,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string | undefined },
): Connect {
  const { origin, prefix } = parseBaseUrl(baseUrl, { insecureHttp: settings.insecureHttp });
  const connect = createConnect({
    url: `${origin.replace(/^http/, 'ws')}${prefix}${SOCKET_PATH}`,
    key: key ?? '',
    userAgent: `trdr/${version}`,
    env: io.env,
    now: io.clock.now,
  });

  const mask = createByteMask(key);
  return async (onChange, signal) => {
    const minutes = await recordSocketMinutes(io.clock, await ledger());
    let link: Link;
    try {
      link = await connect(() => {
        minutes.alive();
        onChange();
      }, signal);
    } catch (error) {
      // With BROKEN, the handshake was sent, so the service may have opened a connection and charge for it.
      if (error instanceof Failure && error.code === 'BROKEN') await minutes.end(false);
      else await minutes.refused();
      throw error;
    }
    minutes.opened();
    const over = new AbortController();
    let refused: LinkEnd | undefined;
    minutes.run(AbortSignal.any([signal, over.signal])).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : 'cannot record the next minute in the ledger';
      refused = { why: 'closed', text, ...(error instanceof Failure && { failure: error }) };
      onChange();
    });
    return {
      next() {
        const frame = link.next();
        return frame && mask(frame);
      },
      get held() {
        return link.held;
      },
      get signs() {
        return link.signs;
      },
      get end() {
        const end = link.end ?? refused;
        if (end) over.abort();
        if (link.end) void minutes.end(link.end.unconfirmed !== true);
        return end;
      },
      send: link.send,
      ping: () => link.ping?.(),
      close() {
        over.abort();
        const answered = link.close();
        if (answered === undefined) {
          void minutes.end(false);
          return undefined;
        }
        return answered.then(async (known) => {
          await minutes.end(known);
          return known;
        });
      },
    };
  };
}
