import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { isCompleteObject, textOfBody } from '../../../src/core/http/body.ts';

const text = '{"name":"é🌙"}';
const bytes = Buffer.from(text);

describe('the text of a body', () => {
  test.each([
    [undefined, bytes],
    ['identity', bytes],
    ['gzip', gzipSync(bytes)],
    ['x-gzip', gzipSync(bytes)],
    ['GZIP', gzipSync(bytes)],
    ['br', brotliCompressSync(bytes)],
    ['deflate', deflateSync(bytes)],
    ['deflate', deflateRawSync(bytes)],
    ['gzip, br', brotliCompressSync(gzipSync(bytes))],
  ])('is decoded: %s', (coding, body) => {
    expect(textOfBody(body, coding, 1_000)).toBe(text);
  });

  test.each([
    ['of a proxy that decoded it but kept the header', 'gzip', bytes],
    ['in an unknown coding', 'zstd', bytes],
  ])('is unchanged %s', (_, coding, body) => {
    expect(textOfBody(body, coding, 1_000)).toBe(text);
  });

  test('is not JSON if the compressed body was cut short', () => {
    const cut = textOfBody(gzipSync(bytes).subarray(0, -9), 'gzip', 1_000);
    expect(isCompleteObject(cut ?? '')).toBe(false);
  });

  test('is undefined if it decodes to more than allowed', () => {
    expect(textOfBody(gzipSync(Buffer.alloc(100_000)), 'gzip', 1_000)).toBe(undefined);
  });

  test('has no byte order mark', () => {
    expect(textOfBody(Buffer.from('\ufeff{}'), undefined, 1_000)).toBe('{}');
  });
});

test('no part of an object is a complete object', () => {
  const whole = ' {"a":[1,{"b":"}"}],"c":"\\"}"}\n';
  for (let end = 0; end < whole.length - 1; end++) expect(isCompleteObject(whole.slice(0, end))).toBe(false);
  expect(isCompleteObject(whole)).toBe(true);
  expect(isCompleteObject('12')).toBe(false);
});
