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
const drift = (theirs: unknown) => compareDescriptions(openapi(), theirs);
const brief = (found: readonly ApiDifference[]) =>
  found.map(({ how, call, text, breaks }) => [how, call, text, breaks]);

describe('a description compared with ours', () => {
  test('does not differ if it is the same, in any envelope and with any names of path parameters', () => {
    expect(drift(openapi())).toEqual([]);
    expect(drift(openapi('wrapped', 'https://other.example'))).toEqual([]);
    const renamed = JSON.parse(JSON.stringify(openapi()).replaceAll('{handle}', '{name}')) as Node;
    expect(drift(renamed)).toEqual([]);
  });

  test('lists parameters that were removed, added or changed type', () => {
    const theirs = altered((document) => {
      const operation = at(document, 'paths', '/v2/thesis', 'get');
      Object.assign(operation, {
        parameters: [
          { name: 'limit', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'tenant', in: 'query', required: true, schema: { type: 'string' } },
        ],
      });
    });
    expect(brief(drift(theirs))).toEqual([
      ['removed', 'GET /v2/thesis', 'query parameter before was removed', true],
      ['changed', 'GET /v2/thesis', 'query parameter limit is string, was integer', true],
      ['added', 'GET /v2/thesis', 'query parameter after is new', false],
      ['added', 'GET /v2/thesis', 'query parameter tenant is new, and required', true],
    ]);
  });

  test('lists fields that were removed, added or changed type, through references and lists', () => {
    const theirs = altered((document) => {
      const entry = at(schema(document, 'Board'), 'properties', 'entries', 'items', 'properties');
      delete entry['pnlSol'];
      Object.assign(entry, { streak: { type: 'integer' }, rank: { type: 'string' } });
    });
    const found = brief(drift(theirs));
    const call = 'GET /v2/launchpad/leaderboard/traders';
    // Only the loss of the list of records breaks a call; an answer without other fields can still be printed.
    expect(found).toEqual([
      ['changed', call, 'answer 200: entries[].rank is string, was integer', false],
      ['removed', call, 'answer 200: entries[].pnlSol was removed', false],
      ['added', call, 'answer 200: entries[].streak is new (integer)', false],
    ]);
  });

  test('breaks a call that requires more, or no longer accepts what trdr sends', () => {
    const theirs = altered((document) => {
      const content = ['paths', '/v2/user/handles/pnl', 'post', 'requestBody', 'content', 'application/json'];
      const handles = { type: ['array', 'null'], items: { type: 'string' } };
      const properties = { handles, tenant: { type: 'string' }, note: { type: 'string' } };
      Object.assign(at(document, ...content), {
        schema: { type: 'object', properties, required: ['handles', 'tenant'] },
      });
      const [limit = {}] = Object.values(at(document, 'paths', '/v2/thesis', 'get', 'parameters'));
      Object.assign(limit, { required: true });
    });
    expect(brief(drift(theirs)).map(([, , text, breaks]) => [text, breaks])).toEqual([
      ['body: handles is array or null, was array', false],
      [expect.stringMatching(/^query parameter \w+ is now required$/), true],
      ['body: tenant is new, and required', true],
      ['body: note is new (string)', false],
    ]);
  });

  test('reports a field that may now be null or absent', () => {
    const theirs = altered((document) => {
      const user = schema(document, 'LaunchpadUser');
      Object.assign(at(user, 'properties'), { wallet: { anyOf: [{ type: 'string' }, { type: 'null' }] } });
      Object.assign(user, { required: ['wallet', 'username'] });
    });
    const texts = drift(theirs).map(({ text }) => text);
    expect(texts).toContain('answer 200: wallet is null or string, was string');
    expect(texts).toContain('answer 200: bio may now be absent');
  });

  test('accepts older notations of null, and merges allOf', () => {
    const theirs = altered((document) => {
      const callout = schema(document, 'Callout');
      Object.assign(at(callout, 'properties'), { thesis: { type: 'string', nullable: true } });
      const { Callout: whole = {}, ...others } = at(document, 'components', 'schemas');
      Object.assign(at(document, 'components'), {
        schemas: { ...others, Part: whole, Callout: { allOf: [{ $ref: '#/components/schemas/Part' }] } },
      });
    });
    expect(drift(theirs)).toEqual([]);
  });

  test('tolerates recursive schemas and invalid descriptions', () => {
    const loop = altered((document) => {
      Object.assign(at(document, 'components', 'schemas'), { Me: { $ref: '#/components/schemas/Me' } });
    });
    expect(drift(loop)).toBeInstanceOf(Array);
    for (const nonsense of [null, [], 'text', {}, { paths: [] }, { paths: { '/v2/me': null } }]) {
      expect(
        drift(nonsense).every(({ how, text }) => how === 'removed' && text === 'the endpoint was removed'),
      ).toBe(true);
    }
  });
});
