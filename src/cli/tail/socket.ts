import { Failure } from '../../base/failure.ts';
import { SOCKET_PATH } from '../../contract/endpoints.ts';
import type { Client } from '../../contract/ports/client.ts';
import { parseBaseUrl } from '../../core/http/base-url.ts';
import type { Connect } from '../../tail/ports.ts';
import { createConnect } from '../../tail/socket/connection.ts';
import { withMinutes } from '../../tail/socket/minutes.ts';
import type { Target } from '../run/connect.ts';
import type { Context } from '../run/context.ts';
import { version } from '../version.ts';

/** Opens the live feed. Each minute of the connection is paid for before it begins. */
export function socketOf(
  { terminal, settings }: Context,
  client: Client,
  { baseUrl, key }: Target,
): Connect {
  const { origin, prefix } = parseBaseUrl(baseUrl, { insecureHttp: settings.insecureHttp });
  const connectWith = (used: string) =>
    createConnect({
      url: `${origin.replace(/^http/, 'ws')}${prefix}${SOCKET_PATH}`,
      key: used,
      keyHeader: settings.keyHeader,
      userAgent: `trdr/${version}`,
      env: terminal.io.env,
      now: terminal.io.clock.now,
    });
  const connect: Connect = async (onChange, signal) => {
    const used = key.current;
    try {
      return await connectWith(used)(onChange, signal);
    } catch (error) {
      const isRejected = error instanceof Failure && error.status === 401;
      if (!isRejected || !(await key.replace(used, error.kind === 'auth'))) throw error;
      return await connectWith(key.current)(onChange, signal);
    }
  };
  return withMinutes(connect, terminal.io.clock, client.reserveMinute);
}
