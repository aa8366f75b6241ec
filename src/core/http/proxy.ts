import connect from 'undici/lib/api/api-connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import { decodePercent } from '../../base/url-values.ts';
import {
  connectOptions,
  type Lines,
  noLimits,
  skipBackgroundOptimization,
  type Wiring,
} from './exchange.ts';

/** A tunnel for https, plain forwarding for http. */
export function viaProxy(proxy: URL, wiring: Wiring): Lines {
  skipBackgroundOptimization();
  const { username, password } = proxy;
  const login = Buffer.from(`${decodePercent(username)}:${decodePercent(password)}`);
  return new ProxyAgent({
    ...noLimits,
    connections: wiring.connections,
    uri: proxy.origin,
    ...(username ? { token: `Basic ${login.toString('base64')}` } : {}),
    proxyTunnel: false,
    requestTls: connectOptions(wiring),
    proxyTls: connectOptions(wiring),
    // undici's index module adds `connect` to all dispatchers, but this bundle does not contain
    // that module.
    clientFactory: (origin, options) => Object.assign(new Pool(origin, options), { connect }),
  });
}
