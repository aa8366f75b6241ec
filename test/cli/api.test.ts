import { expect, it } from 'vitest';
import { parseWords } from '../../src/cli/args/parse.ts';
import { api } from '../../src/cli/commands/api.ts';

const parse = (...words: string[]) => {
  const { args, given } = parseWords(api, words);
  return api.parse(args, given as never);
};

it.each([
  [['/v2/me'], { method: undefined, path: '/v2/me' }],
  [['post', '/v2/x'], { method: 'POST', path: '/v2/x' }],
  // Some shells rewrite paths with a leading slash.
  [['v2/me'], { path: '/v2/me' }],
  [
    ['/x', '-f', 'a=b=c', '--field', 'd='],
    {
      fields: [
        { name: 'a', value: 'b=c' },
        { name: 'd', value: '' },
      ],
    },
  ],
])('trdr api %j is read', (words, call) => expect(parse(...words)).toMatchObject(call));

it.each([
  [['https://other.example/v2/me?limit=2'], /got a URL/, /trdr api \/v2\/me\?limit=2;/],
  [['GET /v2/me'], /method and a path in one argument/, /trdr api GET \/v2\/me$/],
  [['GET'], /requires the argument PATH/, /trdr api GET \/v2\/me/],
  [[], /requires the argument PATH/, /--help/],
  [['/v2/me', 'GET'], /invalid HTTP method/, /before the path/],
  [['POST', '/x', '--paginate'], /requires GET/, /remove --paginate/],
  [['/x', '-f', 'limit'], /invalid field "limit"/, /-f limit=50/],
  [['GET', '/x', 'more'], /too many arguments/, /--help/],
])('trdr api %j is rejected', (words, message, hint) => {
  const failure = { message: expect.stringMatching(message), hint: expect.stringMatching(hint) };
  expect(() => parse(...words)).toThrow(expect.objectContaining(failure));
});
