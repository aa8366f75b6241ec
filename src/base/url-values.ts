import { quietly } from './calls.ts';
import type { Kind } from './values.ts';

/**
 * `localhost`, or a host name with a dot. Any other word without a dot is rejected, because it may
 * be an API key that was pasted by mistake.
 */
const BARE_HOST = /^(localhost|\[::1\]|[a-z0-9-]+(?:\.[a-z0-9-]+)+)(:\d+)?(\/.*)?$/i;

/**
 * The base URL of a service, without a trailing slash. A bare host gets http if it is this machine,
 * and else https.
 */
export const baseUrl = {
  name: 'url',
  noun: 'base URL',
  hint: 'write it as https://host or https://host/path, without user, query or fragment',
  read(text: string) {
    const url = urlIn(text);
    return typeof url === 'string' ? undefined : `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  },
  problem(text: string) {
    const url = urlIn(text);
    return typeof url === 'string' ? url : '';
  },
} satisfies Kind<string>;

/** The parsed URL, or what is wrong with it. */
function urlIn(text: string): URL | string {
  const host = BARE_HOST.exec(text)?.[1];
  const full = host === undefined ? text : `${isLoopback(host) ? 'http' : 'https'}://${text}`;
  // The URL parser would silently correct a space or a backslash, which is a typing error.
  if (/[\s\\]/.test(full)) return 'it contains a space or a backslash';
  if (!/^https?:\/\//i.test(full)) return 'it must start with https:// (or http:// for localhost)';
  if (!URL.canParse(full)) return 'it is not a valid URL';
  const url = new URL(full);
  if (url.username || url.password) return 'it contains a user name or password';
  return url.search || url.hash ? 'it has a query or a fragment' : url;
}

/**
 * The URL of a shared store, or `off`. A URL with a password is rejected, because URLs end up in
 * logs.
 */
export const storeUrl: Kind<string> = {
  name: 'url',
  noun: 'store URL',
  hint: 'write it as redis://user@host:6379/0, rediss://user@host:6379/0 or unix:/path, without a password ("trdr store login" prompts for the password), or use "off" for no store',
  read(text) {
    if (text === 'off' || /^unix:(\/\/)?\/./.test(text)) return text;
    if (/[\s\\]/.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') return undefined;
    if (url.password || url.search || url.hash || !url.hostname) return undefined;
    return /^\/?\d{0,4}$/.test(url.pathname) ? text : undefined;
  },
};

/** Whether a host name (as in `URL.hostname`) is that of this machine. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === '[::1]' ||
    /^127(\.\d+){3}$/.test(host)
  );
}

/**
 * Decodes percent-encoded text. Text that is not validly encoded is returned unchanged, as curl
 * does.
 */
export const decodePercent = (text: string): string =>
  quietly(() => decodeURIComponent(text)) ?? text;
