import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as tlsConnect } from 'node:tls';
import { Failure } from '../../base/failure.ts';
import { decodePercent } from '../../base/url-values.ts';
import { unreachable } from '../../core/http/network-failures.ts';

const TUNNEL_MS = 15_000;

/**
 * Opens a connection to `target` with the CONNECT method of a proxy. If `target` is an https URL,
 * adds TLS.
 */
export async function openTunnel(target: URL, proxy: URL, signal: AbortSignal): Promise<Duplex> {
  const secure = target.protocol === 'https:';
  const authority = `${target.hostname}:${target.port || (secure ? '443' : '80')}`;
  const credentials = `${decodePercent(proxy.username)}:${decodePercent(proxy.password)}`;
  const ask = proxy.protocol === 'https:' ? tlsRequest : plainRequest;
  const tunnel = await new Promise<Duplex>((resolve, reject) => {
    const request = ask({
      host: proxy.hostname,
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        ...(proxy.username && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
      timeout: TUNNEL_MS,
      signal,
      agent: false,
      rejectUnauthorized: true,
    });
    request.once('timeout', () => request.destroy(new Error('the proxy did not answer')));
    request.once('error', (error) =>
      reject(signal.aborted ? signal.reason : unreachable(proxy.host, error)),
    );
    request.once('connect', ({ statusCode = 0 }, socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(
        new Failure('network', `the proxy ${proxy.host} answered ${statusCode}`, {
          code: 'UNREACHABLE',
          hint: `check the proxy address and password, or add ${target.hostname} to NO_PROXY`,
        }),
      );
    });
    request.end();
  });
  return secure
    ? tlsConnect({ socket: tunnel, servername: target.hostname, rejectUnauthorized: true })
    : tunnel;
}
