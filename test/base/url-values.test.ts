import { describe, expect, it } from 'vitest';
import { baseUrl } from '../../src/base/url-values.ts';

describe('base URLs', () => {
  it.each([
    ['https://h/v/', 'https://h/v'],
    ['api.example.test', 'https://api.example.test'],
    ['api.example.test:8443/v', 'https://api.example.test:8443/v'],
    ['localhost:8080', 'http://localhost:8080'],
    ['HTTP://127.0.0.1:1/', 'http://127.0.0.1:1'],
  ])('reads %s as %s', (text, url) => expect(baseUrl.read(text)).toBe(url));

  it.each([
    '',
    'ftp://h',
    'h',
    'x_live_0123456789abcdef',
    'https://u:p@h',
    'u:p@h',
    'https://h/?k=1',
    'https://h/#a',
    'two words',
    'https:\\\\h',
  ])('rejects "%s"', (text) => expect(baseUrl.read(text)).toBeUndefined());
});
