import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createByteMask,
  isKey,
  maskKey,
  withoutKey,
  withoutKeys,
} from '../../../src/core/client/mask-key.ts';
import { holds } from '../../fuzz/fuzz.ts';

const key = 'trdr_live_5ecre7P1antedQ9zXw81KeyMaterial';

/** The forms in which a service or a proxy may repeat a key. */
const echoes: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in a JSON string', (text) => JSON.stringify(text)],
  ['in JSON with escaped slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  [
    'in JSON that is safe in HTML',
    (text) =>
      JSON.stringify(text).replace(/[<>&']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
  ],
  ['percent-encoded', encodeURIComponent],
  [
    'percent-encoded in lower case',
    (text) => encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  ],
];

test.each(echoes)('a key that comes back %s is masked, whatever its characters are', (_, echo) => {
  expect(withoutKey(`before ${echo(key)} after`, key)).toContain(maskKey(key));
  holds(fc.stringMatching(/^[\x21-\x7e]{8,60}$/), (secret) => {
    const text = `x ${echo(secret)} y`;
    const masked = withoutKey(text, secret);
    if (maskKey(secret) !== '****') fc.pre(!maskKey(secret).includes(secret));
    expect(masked).not.toContain(echo(secret).replace(/^"|"$/g, ''));
    expect(Buffer.from(createByteMask(secret)(Buffer.from(text))).toString()).toBe(masked);
  });
});

test('is masked in frames, and frames without it are unchanged', () => {
  const frame = (text: string) => Buffer.from(`{"type":"error","error":"no ${text}"}`);
  for (const clean of [frame('\\u00e9'), frame('20% of &c. a\\n100%'), frame(key.slice(9))])
    expect(createByteMask(key)(clean)).toBe(clean);
  const masked = Buffer.from(createByteMask(key)(frame(key))).toString();
  expect(masked).toBe(`{"type":"error","error":"no ${maskKey(key)}"}`);
});

describe('a word', () => {
  test.each([
    'mira',
    'fx_live_trading',
    'go_live',
    'a_test_drive',
    'day_test_account',
    'trdr_live_',
    'x_live_1',
  ])('%s does not look like a key', (word) => {
    expect(isKey(word)).toBe(false);
    expect(withoutKeys(word)).toBe(word);
  });

  test('is recognized as the current key in any encoding', () => {
    expect(isKey('zq~5ecre7P1', 'zq~5ecre7P1')).toBe(true);
    expect(isKey('@zq~5ecre7P1', 'zq~5ecre7P1')).toBe(true);
  });
});
