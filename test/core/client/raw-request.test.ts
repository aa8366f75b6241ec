import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pageIn, rawRequest, withCursor } from '../../../src/core/client/raw-request.ts';

const call = { method: undefined, path: '/v2/x', fields: [], input: undefined };
const field = (text: string) => {
  const [name = '', ...rest] = text.split('=');
  return { name, value: rest.join('=') };
};
const bodyOf = (...fields: string[]) =>
  JSON.parse(rawRequest({ ...call, method: 'POST', fields: fields.map(field) }).body ?? 'null');

describe('a raw request', () => {
  it('is a GET by default, and a POST with a body', () => {
    expect(rawRequest(call)).toEqual({ method: 'GET', path: '/v2/x', body: undefined });
    expect(rawRequest({ ...call, input: '{}' })).toEqual({ method: 'POST', path: '/v2/x', body: '{}' });
  });

  it('appends the fields of a GET to its query', () => {
    const fields = ['limit=5', 'q=a&b=c d', 'q=2'].map(field);
    expect(rawRequest({ ...call, fields }).path).toBe('/v2/x?limit=5&q=a%26b%3Dc%20d&q=2');
    expect(rawRequest({ ...call, path: '/v2/x?a=1', fields: [field('b=2')] }).path).toBe('/v2/x?a=1&b=2');
  });

  it('puts the fields of a POST into a JSON body', () => {
    expect(bodyOf('a=1', 'list[]=x', 'list[]=y', 'deep[in][side]=z', 'deep[other]=')).toEqual({
      a: '1',
      list: ['x', 'y'],
      deep: { in: { side: 'z' }, other: '' },
    });
  });

  it('has no body for a POST without fields', () => {
    expect(rawRequest({ ...call, method: 'POST' }).body).toBeUndefined();
  });

  it('puts fields into the query if a complete body is given', () => {
    const request = rawRequest({ ...call, method: 'POST', fields: [field('a=1')], input: '[]' });
    expect(request).toEqual({ method: 'POST', path: '/v2/x?a=1', body: '[]' });
  });

  it.each([[['a=1', 'a=2']], [['a=1', 'a[]=2']], [['a[]=1', 'a[b]=2']], [['a[b=1']], [['[]=1']]])(
    'rejects contradictory fields: %s',
    (fields) => {
      expect(() => bodyOf(...fields)).toThrow(expect.objectContaining({ kind: 'usage' }));
    },
  );

  it.each([
    [['a=1', 'a=2'], 'the field "a" is given twice'],
    [['a[b]=1', 'a=2'], 'the field "a" conflicts with an earlier field'],
    [['a[]=1', 'a[b]=2'], 'the field "a[b]" conflicts with an earlier field'],
  ])('names the contradiction: %s', (fields, message) => {
    expect(() => bodyOf(...fields)).toThrow(message);
  });

  it('accepts names such as __proto__', () => {
    const body = rawRequest({
      ...call,
      method: 'POST',
      fields: ['__proto__[polluted]=yes', 'constructor=1', 'toString[]=2'].map(field),
    }).body;
    expect(body).toBe('{"__proto__":{"polluted":"yes"},"constructor":"1","toString":["2"]}');
    expect('polluted' in {}).toBe(false);
  });
});

describe('the next page', () => {
  const page = (value: unknown) => pageIn({ text: JSON.stringify(value) });

  it('starts at nextBefore, with or without an envelope', () => {
    const next = { hasMore: true, nextBefore: 'a' };
    expect(page({ items: [], ...next })).toMatchObject(next);
    expect(page({ data: next, meta: {} })).toMatchObject(next);
    expect(page({ nextBefore: 'a' })).toMatchObject(next);
  });

  it('does not exist after the last page, or after a body that is not a page', () => {
    for (const last of [{ hasMore: false, nextBefore: 'a' }, { id: 'x' }, []]) {
      expect(page(last)?.hasMore ?? false).toBe(false);
    }
    expect(pageIn({ text: '<html>' })).toBeUndefined();
  });

  it('replaces the previous cursor, and keeps the rest of the query', () => {
    expect(withCursor('/v2/thesis', 'a b')).toBe('/v2/thesis?before=a%20b');
    expect(withCursor('/v2/thesis?before=old&limit=5', 'new')).toBe('/v2/thesis?limit=5&before=new');
    expect(withCursor('/v2/x?q=a?b&limit=5', 'c')).toBe('/v2/x?q=a?b&limit=5&before=c');
  });

  it('encodes any cursor', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (before) => {
        const query = new URLSearchParams(withCursor('/p?limit=1', before).split('?')[1]);
        expect(query.get('before')).toBe(before);
      }),
      { numRuns: 200, ...(process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {}) },
    );
  });
});
