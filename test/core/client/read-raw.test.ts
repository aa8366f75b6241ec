import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathOf } from '../../../src/contract/endpoint.ts';
import {
  endpointIds,
  endpoints,
  OPENAPI_PATH,
  SOCKET_PATH,
} from '../../../src/contract/endpoints.ts';
import { readRaw } from '../../../src/core/client/read-raw.ts';
import { runs } from '../../state/room.ts';

const values = {
  handle: 'mira',
  address: '0xAb',
  id: 'i',
  tokenAddress: 'T',
  wallet: 'W',
  mint: 'M',
};
const paths = [
  ...endpointIds.map((id) => pathOf(endpoints[id].path, values)),
  OPENAPI_PATH,
  SOCKET_PATH,
];
const rawPath = (path: string) => readRaw('GET', path, undefined).path;
const rejected = (path: string) => {
  try {
    rawPath(path);
    return false;
  } catch (error) {
    return error instanceof Error && 'kind' in error && error.kind === 'usage';
  }
};
const encoded = (letter: string) => `%${letter.charCodeAt(0).toString(16)}`;

describe('a known path', () => {
  it.each(paths)('%s is sent as written', (path) => {
    expect(rawPath(path)).toBe(path);
    expect(rawPath(`${path}?a=1&b=2`)).toBe(`${path}?a=1&b=2`);
  });

  it.each([
    '/v2/user/handle/%6Dira',
    '/v2/user/handle/a%20b',
    '/v2/user/handle/MIRA',
    '/v2/thesis?limit=50&before=a%26b',
  ])('accepts any text in a parameter: %s', (path) => expect(rawPath(path)).toBe(path));
});

describe('a path that differs from a known one only in spelling', () => {
  it.each([
    '/v2/%2e/user/handles/pnl',
    '/v2%2Fuser%2Fhandles%2Fpnl',
    '/v2/user/handle/mira%2Fpnl',
    '/v2/user/handle/a%2Fb',
    '/v2/user/handle/%2e%2e',
    '/v2/user/handle/',
    '/v2/user/handle//mira',
  ])('is rejected: %s', (path) => expect(rejected(path)).toBe(true));

  it('is rejected whatever the change of spelling', () => {
    const change = fc.constantFrom<(path: string, at: number) => string>(
      (path) => `${path}/`,
      (path) => `${path}//`,
      (path, at) =>
        path.replaceAll('/', (slash, place) => (place === slashNear(path, at) ? '//' : slash)),
      (path, at) =>
        path.replaceAll('/', (slash, place) => (place === slashNear(path, at) ? '/./' : slash)),
      (path, at) =>
        path.replaceAll('/', (slash, place) => (place === slashNear(path, at) ? '/x/../' : slash)),
      // A letter that is part of an encoding is left: without it there is no spelling to read.
      (path) => path.replace(/(?<!%.?)[a-z]/, encoded),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.array(fc.tuple(change, fc.nat(50)), { minLength: 1, maxLength: 3 }),
        (path, changes) => {
          const spelled = changes.reduce((now, [how, at]) => how(now, at), path);
          if (spelled === path) return;
          expect(rejected(spelled), spelled).toBe(true);
        },
      ),
      runs(400),
    );
  });
});

it.each([
  '/v2/user/handles/pnl%20',
  '/v2/user/handles/pnl;a=1',
  '/v2/other',
  '/v3/user/handles/pnl',
  '/v2/user/handles',
  '/x',
  '/',
  '/v2/other/?a=1&a=2',
])('an unknown path is sent as written: %s', (path) => expect(rawPath(path)).toBe(path));

function slashNear(path: string, at: number): number {
  const slashes = [...path.matchAll(/\//g)].map(({ index }) => index);
  return slashes[at % slashes.length] ?? 0;
}

describe('a raw request', () => {
  it.each([
    ['GET', '/v2/thesis?limit=50', undefined, 'thesis.all', 600],
    ['GET', '/v2/user/handle/%6Dira', undefined, 'user.handle', 200],
    ['POST', '/v2/user/handles/pnl', '{"handles":["a","b"]}', 'users.pnl', 60_000],
    ['GET', '/v2/thesis?limit=1000', undefined, 'thesis.all', undefined],
    ['GET', '/v2/thesis?limit=1&limit=100', undefined, 'thesis.all', undefined],
    ['GET', '/v2/thesis?limit=1&%6Cimit=100', undefined, 'thesis.all', undefined],
    ['GET', '/V2/thesis', undefined, undefined, undefined],
    ['POST', '/v2/user/handles/pnl', 'no JSON', 'users.pnl', undefined],
    ['DELETE', '/v2/thesis', undefined, undefined, undefined],
  ])(
    '%s %s %s is priced as its endpoint, if the endpoint accepts it',
    (method, path, body, id, most) => {
      const target = readRaw(method, path, body);
      expect([target.id, target.call?.bounds.most]).toEqual([id, most]);
    },
  );
});
