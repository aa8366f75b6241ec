import { Failure, usageError } from '../../base/failure.ts';
import { isLoopback } from '../../base/url-values.ts';

export interface BaseUrl {
  readonly origin: string;
  readonly host: string;
  /** Without a trailing slash; may be empty. */
  readonly prefix: string;
}

/** Rejects plain http to other machines, because it would send the key unencrypted. */
export function parseBaseUrl(
  text: string,
  { insecureHttp = false }: { readonly insecureHttp?: boolean | undefined } = {},
): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw usageError(
      'invalid base URL: it must start with https:// (or http:// for localhost)',
      'write it as https://host or https://host/path',
    );
  }
  // Do not print the URL, because it may contain a password.
  if (url.username || url.password) {
    throw usageError(
      'invalid base URL: it contains a user name or password',
      'remove the user name and the password; save the API key with "trdr auth login"',
    );
  }
  if (url.search || url.hash)
    throw usageError(
      'invalid base URL: it has a query or a fragment',
      'write it as https://host or https://host/path',
    );
  // Otherwise every request would get a 404, which looks as if no trader was found.
  if (VERSION.test(url.pathname)) {
    throw usageError(
      'invalid base URL: it contains /v2, which trdr adds to it',
      `write it as ${url.origin}${url.pathname.replace(VERSION, '')}`,
    );
  }
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    throw new Failure('usage', `plain http to ${url.host} would send the key unencrypted`, {
      code: 'INSECURE_HTTP',
      hint: 'use https, or pass --insecure-http to accept the risk',
    });
  }
  return { origin: url.origin, host: url.host, prefix: url.pathname.replace(/\/+$/, '') };
}

/**
 * Matches a /v2 that belongs to the service: at the end of a path, or before the rest of an endpoint's path. Any
 * other /v2 may belong to a gateway.
 */
const VERSION = /(?:\/v2)+(?:\/(?:me|user|thesis|launchpad|ws)(?:\/.*)?)?\/*$/i;
