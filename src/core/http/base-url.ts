import { Failure, usageError } from '../../base/failure.ts';
import { baseUrl, isLoopback } from '../../base/url-values.ts';

export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path without a trailing slash; may be empty. */
  readonly prefix: string;
}

/**
 * Parses a base URL. Rejects plain http to other machines, because it would send the key
 * unencrypted.
 */
export function parseBaseUrl(
  text: string,
  { insecureHttp = false }: { readonly insecureHttp?: boolean | undefined } = {},
): BaseUrl {
  const read = baseUrl.read(text);
  // Do not print the URL, because it may contain a password.
  if (read === undefined)
    throw usageError(`invalid base URL: ${baseUrl.problem(text)}`, baseUrl.hint);
  const url = new URL(read);
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
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') };
}

/**
 * A /v2 at the end, or before an endpoint's path, belongs to the service; any other may belong to a
 * gateway.
 */
const VERSION = /(?:\/v2)+(?:\/(?:me|user|thesis|launchpad|ws)(?:\/.*)?)?\/*$/i;
