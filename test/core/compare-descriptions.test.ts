import { describe, expect, test } from 'vitest';
import { openapi } from '../../src/contract/openapi.ts';
import { type ApiDifference, compareDescriptions } from '../../src/core/compare-descriptions.ts';

interface Node {
  [key: string]: Node;
}

/** Our own document with a change. */
function altered(alter: (document: Node) => void, envelope: 'bare' | 'wrapped' = 'bare'): unknown {
  const document = JSON.parse(JSON.stringify(openapi(envelope))) as Node;
  alter(document);
  return document;
}
/** The value at a path of keys. */
const at = (document: Node, ...keys: string[]): Node =>
  keys.reduce<Node>((node, key) => node[key] ?? {}, document);
const schema = (document: Node, name: string) => at(document, 'components', 'schemas', name);
const drift = (theirs: unknown) => compareDescriptions(openapi(), theirs, []);
const brief = (found: readonly ApiDifference[]) =>
  found.map(({ path, described, found, breaks }) => [path, described, found, breaks]);

describe('a description compared with ours', () => {
  test('does not differ if it is the same, in any envelope and with any names of path parameters', () => {
    expect(drift(openapi())).toEqual([]);
    expect(drift(openapi('wrapped', 'https://other.example'))).toEqual([]);
    const renamed = JSON.parse(JSON.stringify(openapi()).replaceAll('{handle}', '{name}')) as Node;
    expect(drift(renamed)).toEqual([]);
  });

  const board = 'GET /v2/launchpad/leaderboard/traders';
  const pnl = 'POST /v2/user/handles/pnl';
  const account = 'GET /v2/launchpad/user/wallet/{wallet}';
  test('lists what was removed, added or changed, through references and lists, and whether it breaks a call', () => {
    const theirs = altered((document) => {
      Object.assign(at(document, 'paths', '/v2/thesis', 'get'), {
        parameters: [
          { name: 'limit', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'tenant', in: 'query', required: true, schema: { type: 'string' } },
        ],
      });
      const [period = {}] = Object.values(
        at(document, 'paths', '/v2/launchpad/leaderboard/traders', 'get', 'parameters'),
      );
      Object.assign(period, { required: true });
      const entry = at(schema(document, 'Board'), 'properties', 'entries', 'items', 'properties');
      delete entry['pnlSol'];
      Object.assign(entry, { streak: { type: 'integer' }, rank: { type: 'string' } });
      const content = [
        'paths',
        '/v2/user/handles/pnl',
        'post',
        'requestBody',
        'content',
        'application/json',
      ];
      const handles = { type: ['array', 'null'], items: { type: 'string' } };
      const properties = { handles, tenant: { type: 'string' }, note: { type: 'string' } };
      Object.assign(at(document, ...content), {
        schema: { type: 'object', properties, required: ['handles', 'tenant'] },
      });
      const user = schema(document, 'LaunchpadUser');
      Object.assign(at(user, 'properties'), {
        wallet: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      });
      Object.assign(user, {
        required: Object.keys(at(user, 'properties')).filter((name) => name !== 'bio'),
      });
    });
    // Only the loss of the list of records breaks a call; an answer without other fields can still
    // be printed. What the service accepts besides, or always sends, makes no difference.
    const list = 'GET /v2/thesis: query parameter';
    const expected = [
      [`${list} before`, 'string or absent', undefined, true],
      [`${list} limit`, 'integer or absent', 'string or absent', true],
      [`${board}: query parameter period`, 'string or absent', 'string', true],
      [`${list} after`, undefined, 'string or absent', false],
      [`${list} tenant`, undefined, 'string', true],
      [`${board}: answer 200: entries[].rank`, 'integer', 'string', false],
      [`${board}: answer 200: entries[].pnlSol`, 'null or number', undefined, false],
      [`${board}: answer 200: entries[].streak`, undefined, 'integer or absent', false],
      [`${pnl}: body: tenant`, undefined, 'string', true],
      [`${pnl}: body: note`, undefined, 'string or absent', false],
      [`${account}: answer 200: wallet`, 'string', 'null or string', false],
      [`${account}: answer 200: bio`, 'null or string', 'null or string or absent', false],
    ];
    expect(brief(drift(theirs)).toSorted()).toEqual(expected.toSorted());
  });

  test('accepts older notations of null, and merges allOf', () => {
    const theirs = altered((document) => {
      const callout = schema(document, 'Callout');
      Object.assign(at(callout, 'properties'), { thesis: { type: 'string', nullable: true } });
      const { Callout: whole = {}, ...others } = at(document, 'components', 'schemas');
      Object.assign(at(document, 'components'), {
        schemas: {
          ...others,
          Part: whole,
          Callout: { allOf: [{ $ref: '#/components/schemas/Part' }] },
        },
      });
    });
    expect(drift(theirs)).toEqual([]);
  });

  test('tolerates recursive schemas and invalid descriptions', () => {
    const loop = altered((document) => {
      Object.assign(at(document, 'components', 'schemas'), {
        Me: { $ref: '#/components/schemas/Me' },
      });
    });
    expect(drift(loop)).toBeInstanceOf(Array);
    for (const nonsense of [null, [], 'text', {}, { paths: [] }, { paths: { '/v2/me': null } }]) {
      expect(
        drift(nonsense).every(
          ({ described, found }) => described === 'endpoint' && found === undefined,
        ),
      ).toBe(true);
    }
  });
});
