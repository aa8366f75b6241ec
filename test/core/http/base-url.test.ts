import { describe, expect, it } from 'vitest';
import { parseBaseUrl } from '../../../src/core/http/base-url.ts';

describe('a base URL', () => {
  it.each([
    ['https://h/v2', 'https://h'],
    ['https://h/V2/', 'https://h'],
    ['https://h/api/v2/me', 'https://h/api'],
    ['https://h/v2/v2/user/handle/mira', 'https://h'],
  ])('with the version of the service is rejected with the right one: %s', (given, right) => {
    expect(() => parseBaseUrl(given)).toThrow(
      expect.objectContaining({ hint: `write it as ${right}` }),
    );
  });

  it.each(['https://h/v20', 'https://v2.h', 'https://h/xv2', 'https://h/v2/traders'])(
    'may resemble one: %s',
    (given) => {
      expect(parseBaseUrl(given).origin).toBe(new URL(given).origin);
    },
  );
});
