import { BlockList, isIP } from 'node:net';
import { usageError } from '../../base/failure.ts';
import { isLoopback } from '../../base/url-values.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Lower-case variables take precedence, as in curl. Requests to this machine never use a proxy. */
export function proxyFor(target: URL, env: Env): URL | undefined {
  if (isLoopback(target.hostname)) return undefined;
  const read = (name: string) => env[name] || env[name.toUpperCase()];
  const scheme = target.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const name = read(scheme) ? scheme : 'all_proxy';
  const value = read(name);
  if (!value || isExempt(target, read('no_proxy') ?? '')) return undefined;
  return parseProxy(value, name.toUpperCase(), target.hostname);
}

function parseProxy(value: string, name: string, host: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Do not print the value, because it may contain a password.
  if (!url?.hostname)
    throw usageError(`invalid proxy address in ${name}`, 'write it as http://host:port');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw usageError(
      `unsupported proxy in ${name}: ${url.protocol.slice(0, -1)}`,
      `set ${name} to an http or https proxy, or add ${host} to NO_PROXY`,
    );
  }
  return url;
}

/**
 * Entries are `*`, networks, addresses, and domains with their subdomains; addresses and domains
 * can have a port.
 */
function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
  const port = target.port || (target.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return inNetwork(host, entry);
      const [, name = '', wanted] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(withoutPort(entry)) ?? [];
      if (wanted !== undefined && wanted !== port) return false;
      const bare = name.replace(/^\*?\./, '').replace(/\.$/, '');
      return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`));
    });
}

// In a bare IPv6 address, a colon does not introduce a port.
const withoutPort = (entry: string) => (isIP(entry) === 6 ? `[${entry}]` : entry);

function inNetwork(host: string, entry: string): boolean {
  const [network = '', bits = ''] = entry.split('/');
  const [kind, block] = [isIP(network), new BlockList()];
  if (
    kind === 0 ||
    isIP(host) !== kind ||
    !/^\d{1,3}$/.test(bits) ||
    Number(bits) > (kind === 4 ? 32 : 128)
  )
    return false;
  const family = kind === 4 ? 'ipv4' : 'ipv6';
  block.addSubnet(network, Number(bits), family);
  return block.check(host, family);
}
