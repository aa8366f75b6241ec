import { endpointIds, endpoints, OPENAPI_PATH, SOCKET_PATH } from '../../contract/endpoints.ts';
import { suggest } from '../../output/suggest.ts';

/** What people write before the path of an endpoint, in place of the version or in addition to it. */
const PREFIX = /^(?:api|rest|v\d+(?:\.\d+)?)$/i;

const segmentsOf = (path: string) => path.split('/').filter((segment) => segment !== '');

const calls = [
  ...endpointIds.map((id) => ({ method: endpoints[id].method, known: endpoints[id].path })),
  ...[SOCKET_PATH, OPENAPI_PATH].map((known) => ({ method: 'GET', known })),
];

/** Whether the service has an endpoint with this method and path. */
export const isEndpoint = (method: string, path: string): boolean => {
  const given = segmentsOf(path.split(/[?#]/)[0] ?? '');
  return calls.some(({ method: usual, known }) => {
    const segments = segmentsOf(known);
    const fits = (name: string, at: number) => name.startsWith('{') || name === given[at];
    return usual === method && segments.length === given.length && segments.every(fits);
  });
};

/**
 * The call that an unknown call most likely means: the path of the unknown call lacks the version, has a wrong
 * version or a typo, or its method is wrong. Names the method only if the given method is wrong. Undefined if no
 * endpoint is similar.
 */
export function suggestCall(method: string, path: string): string | undefined {
  const [, pathname = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(path) ?? [];
  const given = segmentsOf(pathname);
  while (PREFIX.test(given[0] ?? '')) given.shift();
  let best: { readonly call: string; readonly typos: number } | undefined;
  for (const { method: usual, known } of calls) {
    const segments = segmentsOf(known);
    const version = PREFIX.test(segments[0] ?? '') ? 1 : 0;
    const named = segments.slice(version);
    if (named.length !== given.length) continue;
    let typos = 0;
    const written = named.map((name, at) => {
      const word = given[at] ?? '';
      if (name.startsWith('{')) return word;
      if (word.toLowerCase() !== name)
        typos += suggest(word, [name]).length > 0 ? 1 : Number.POSITIVE_INFINITY;
      return name;
    });
    if (typos < (best?.typos ?? 2)) {
      const meant = `/${[...segments.slice(0, version), ...written].join('/')}${query}`;
      best = { call: usual === method ? meant : `${usual} ${meant}`, typos };
    }
  }
  return best?.call === path ? undefined : best?.call;
}
