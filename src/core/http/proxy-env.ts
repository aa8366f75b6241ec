import { isIP } from 'node:net';
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

/** Entries are `*`, addresses, and domains with their subdomains. */
function isExempt(target: URL, list: string): boolean {
  const host = target.hostname.toLowerCase().replace(/^\[|\]$|\.$/g, '');
  const entries = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  return entries.some((entry) => {
    const name = entry.replace(/^\*?\./, '');
    return entry === '*' || host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
  });
}
