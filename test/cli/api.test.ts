import { describe, expect, it } from 'vitest';
import { parseWords } from '../../src/cli/args/parse.ts';
import { api } from '../../src/cli/commands/api.ts';
import { suggestCall } from '../../src/cli/spend/suggest-call.ts';

const parse = (...words: string[]) => {
  const { args, given } = parseWords(api, words);
  return api.parse(args, given as never);
};

describe('arguments of trdr api', () => {
  it('are a path, with an optional method before it', () => {
    expect(parse('/v2/me')).toMatchObject({ method: undefined, path: '/v2/me' });
    expect(parse('post', '/v2/x')).toMatchObject({ method: 'POST', path: '/v2/x' });
  });

  it('may omit the leading slash, for shells that rewrite paths', () => {
    expect(parse('v2/me').path).toBe('/v2/me');
  });

  it('include fields, split at the first equals sign', () => {
    expect(parse('/x', '-f', 'a=b=c', '--field', 'd=').fields).toEqual([
      { name: 'a', value: 'b=c' },
      { name: 'd', value: '' },
    ]);
  });

  it.each([
    [['https://other.example/v2/me'], /got a URL/],
    [['GET /v2/me'], /method and a path in one argument/],
    [['GET'], /requires the argument PATH/],
    [[], /requires the argument PATH/],
    [['/v2/me', 'GET'], /invalid HTTP method/],
    [['POST', '/x', '--paginate'], /requires GET/],
    [['/x', '--paginate', '--input', '-'], /cannot be combined/],
    [['/x', '-f', 'limit'], /invalid field "limit"/],
    [['GET', '/x', 'more'], /too many arguments/],
  ])('are rejected if they are invalid: %s', (words, why) => {
    expect(() => parse(...words)).toThrow(why);
  });
});

describe('a call that is not in the description', () => {
  it.each([
    ['/me', '/v2/me'],
    ['/v1/me', '/v2/me'],
    ['/V3/ME', '/v2/me'],
    ['/api/v2/me', '/v2/me'],
    ['/v2/v2/me', '/v2/me'],
    ['/thesis?limit=3', '/v2/thesis?limit=3'],
    ['/v2/theses', '/v2/thesis'],
    ['/user/handle/mira', '/v2/user/handle/mira'],
    ['/users/handle/Mira/pnl', '/v2/user/handle/Mira/pnl'],
    ['/v1/user/handle/mira/resolve', 'POST /v2/user/handle/mira/resolve'],
    ['/openapi', '/openapi.json'],
    ['/v2/openapi.json', '/openapi.json'],
  ])('%s is compared with the endpoints', (path, meant) => {
    expect(suggestCall('GET', path)).toBe(meant);
  });

  it('may have the wrong method', () => {
    expect(suggestCall('POST', '/v2/me')).toBe('GET /v2/me');
    expect(suggestCall('POST', '/user/handles/pnl')).toBe('/v2/user/handles/pnl');
  });

  it.each(['/', '/v2', '/v2/unheard/of', '/v2/user/mira', '/v2/me', ''])('%s resembles none', (path) => {
    expect(suggestCall('GET', path)).toBeUndefined();
  });

  it('is suggested without its host', () => {
    expect(() => parse('https://api.example.test/v1/thesis?limit=2')).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('trdr api /v2/thesis?limit=2;') }),
    );
  });
});
