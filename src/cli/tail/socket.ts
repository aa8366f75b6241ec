import { SOCKET_PATH } from '../../contract/endpoints.ts';
import type { Client } from '../../contract/ports/client.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import type { Connect } from '../../tail/ports.ts';
import { createConnect } from '../../tail/socket/connection.ts';
import { withMinutes } from '../../tail/socket/minutes.ts';
import type { Context } from '../run/context.ts';
import { version } from '../version.ts';

/** Opens the live feed. Each minute of the connection is paid for before it begins. */
export function socketOf(
  { terminal, settings }: Context,
  client: Client,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string },
): Connect {
  const { origin, prefix } = parseBaseUrl(baseUrl, { insecureHttp: settings.insecureHttp });
  const connect = createConnect({
    url: `${origin.replace(/^http/, 'ws')}${prefix}${SOCKET_PATH}`,
    key,
    userAgent: `trdr/${version}`,
    env: terminal.io.env,
    now: terminal.io.clock.now,
  });
  return withMinutes(connect, terminal.io.clock, client.reserveMinute);
}
