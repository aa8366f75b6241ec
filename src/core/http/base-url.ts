import { Failure, usageError } from '../../base/failure.ts';
import { isLoopback } from '../../base/loopback.ts';

/** A base URL, checked. */
export interface BaseUrl {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly host: string;
  /** What stands before every path; empty or without a closing slash. */
  readonly prefix: string;
}

/** Reads a base URL. Plain http is refused beyond loopback: the key would cross the network in the clear. */
export function parseBaseUrl(
  text: string,
  { insecureHttp = false }: { readonly insecureHttp?: boolean | undefined } = {},
): BaseUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw usageError('the base URL is no http or https address', 'write it as https://host/path');
  }
  // The URL is not repeated: this one holds a secret.
  if (url.username || url.password) {
    throw usageError('the base URL holds a user name or password', 'keys are kept by trdr auth login');
  }
  if (url.search || url.hash) throw usageError('the base URL has a query or a fragment', 'leave them out');
  if (url.protocol === 'http:' && !insecureHttp && !isLoopback(url.hostname)) {
    throw new Failure('usage', `plain http to ${url.host} would show the key to the network`, {
      code: 'INSECURE_HTTP',
      hint: 'use https, or --insecure-http if you accept that',
    });
  }
  return { origin: url.origin, host: url.host, prefix: url.pathname.replace(/\/+$/, '') };
}
