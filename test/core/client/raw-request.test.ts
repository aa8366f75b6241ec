import { describe, expect, it } from 'vitest';
import { rawRequest, withCursor } from '../../../src/core/client/raw-request.ts';

const call = { method: undefined, path: '/v2/x', fields: [], input: undefined };
const field = (text: string) => {
  const [name = '', ...rest] = text.split('=');
  return { name, value: rest.join('=') };
};
const bodyOf = (...fields: string[]) =>
  JSON.parse(rawRequest({ ...call, method: 'POST', fields: fields.map(field) }).body ?? 'null');

describe('a raw request', () => {
  it('has no body for a POST without fields', () => {
    expect(rawRequest({ ...call, method: 'POST' }).body).toBeUndefined();
  });

  it('puts fields into the query if a complete body is given', () => {
    const request = rawRequest({ ...call, method: 'POST', fields: [field('a=1')], input: '[]' });
    expect(request).toEqual({ method: 'POST', path: '/v2/x?a=1', body: '[]' });
  });

  it.each([
    [['a=1', 'a=2'], 'the field "a" is given twice'],
    [['a[b]=1', 'a=2'], 'the field "a" conflicts with an earlier field'],
    [['a=1', 'a[]=2'], 'the field "a[]" conflicts with an earlier field'],
    [['a[]=1', 'a[b]=2'], 'the field "a[b]" conflicts with an earlier field'],
    [['a[b=1'], 'a[b'],
    [['[]=1'], '[]'],
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
  it('replaces the previous cursor, and keeps the rest of the query', () => {
    expect(withCursor('/v2/thesis', 'a b')).toBe('/v2/thesis?before=a%20b');
    expect(withCursor('/v2/thesis?before=old&limit=5', 'new')).toBe(
      '/v2/thesis?limit=5&before=new',
    );
    expect(withCursor('/v2/x?q=a?b&limit=5', 'c')).toBe('/v2/x?q=a?b&limit=5&before=c');
  });
});
