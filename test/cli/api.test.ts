import { describe, expect, it } from 'vitest';
import { parseWords } from '../../src/cli/args/parse.ts';
import { api } from '../../src/cli/commands/api.ts';

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

it('a URL is rejected, and its path suggested', () => {
  expect(() => parse('https://api.example.test/v2/thesis?limit=2')).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('trdr api /v2/thesis?limit=2;') }),
  );
});
