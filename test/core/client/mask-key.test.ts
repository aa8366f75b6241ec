import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isKey, maskKey, withoutKey, withoutKeys } from '../../../src/core/client/mask-key.ts';
import { createByteMask } from '../../../src/core/client/mask-key-bytes.ts';
import { holds } from '../../fuzz/fuzz.ts';

const key = 'trdr_live_5ecre7P1antedQ9zXw81KeyMaterial';
const unicode = (text: string) =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const percent = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');

const html = (text: string, number: (code: number) => string) =>
  [...text].map((char) => `&#${number(char.charCodeAt(0))};`).join('');
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** The ways in which a service or a proxy may repeat a key. */
const echoes: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in a JSON string', (text) => JSON.stringify(text)],
  ['in JSON with escaped slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  ['in JSON within JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  ['as \\uXXXX escapes', unicode],
  ['as \\uXXXX escapes in capitals', (text) => unicode(text).toUpperCase().replaceAll('\\U', '\\u')],
  ['with some characters escaped', (text) => text.replace(/[a-f_]/g, unicode)],
  ['as escapes within JSON', (text) => JSON.stringify(unicode(text))],
  ['percent-encoded', percent],
  ['percent-encoded in capitals', (text) => percent(text).toUpperCase()],
  ['percent-encoded where a URL needs it', encodeURIComponent],
  ['percent-encoded twice', (text) => encodeURIComponent(percent(text))],
  ['in capitals', (text) => text.toUpperCase()],
  ['in lower case', (text) => text.toLowerCase()],
  ['in capitals and percent-encoded', (text) => percent(text.toUpperCase())],
  ['as decimal HTML', (text) => html(text, (code) => `${code}`)],
  ['as hexadecimal HTML', (text) => html(text, (code) => `x${code.toString(16)}`)],
  ['as HTML where it is needed', (text) => text.replace(/[&<>"']/g, (char) => entities[char] ?? char)],
  ['as HTML twice', (text) => html(text, (code) => `${code}`).replaceAll('&', '&amp;')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in hex in capitals', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64 after a word', (text) => Buffer.from(`Bearer ${text}, x`).toString('base64')],
  ['in base64 after a user name', (text) => Buffer.from(`ab:${text}`).toString('base64')],
  ['in base64 for URLs', (text) => Buffer.from(`a${text}b`).toString('base64url')],
];

/** Whether the key can be recovered from a text in any of the encodings. */
function readsBack(text: string, secret: string): boolean {
  const plain = [text];
  for (let layer = 0; layer < 3; layer++) {
    const last = plain.at(-1) ?? '';
    plain.push(
      last
        .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        .replace(/\\(.)/g, '$1')
        .replace(
          /&(?:amp|lt|gt|quot);/g,
          (entity) => Object.keys(entities).find((char) => entities[char] === entity) ?? '',
        )
        .replace(/&#(x?)([0-9a-f]+);/gi, (_, x: string, code: string) =>
          String.fromCharCode(Number.parseInt(code, x ? 16 : 10)),
        ),
    );
  }
  const decoded = (['hex', 'base64', 'base64url'] as const).map((encoding) =>
    Buffer.from(text, encoding).toString('latin1'),
  );
  return [...plain.map((form) => form.toLowerCase()), ...decoded.map((form) => form.toLowerCase())].some(
    (form) => form.includes(secret.toLowerCase()),
  );
}

describe.each(echoes)('a key that comes back %s', (_, echo) => {
  test('is masked', () => {
    expect(readsBack(echo(key), key)).toBe(true);
    expect(readsBack(withoutKey(echo(key), key), key)).toBe(false);
    expect(withoutKey(`before ${echo(key)} after`, key)).toMatch(/^before .*\*\*\*\*.* after$/);
  });
});

test('a key is masked in each of these forms, whatever its characters are', () => {
  holds(fc.stringMatching(/^[\x21-\x7e]{8,60}$/), (secret) => {
    for (const [form, echo] of echoes) {
      const text = `x ${echo(secret)} y`;
      const masked = withoutKey(text, secret);
      expect(readsBack(masked, secret), form).toBe(false);
      expect(Buffer.from(createByteMask(secret)(Buffer.from(text))).toString(), form).toBe(masked);
    }
  });
});

test('is masked in a text of many backslashes, which takes linear time', () => {
  for (const secret of [key, `"${key}`]) {
    const text = `${'\\'.repeat(500_000)}u0061 ${'\\'.repeat(500_000)}${unicode(secret)}`;
    expect(withoutKey(text, secret)).toBe(`${'\\'.repeat(500_000)}u0061 ${maskKey(secret)}`);
  }
});

test('is masked in frames, and frames without it are unchanged', () => {
  const frame = (text: string) => Buffer.from(`{"type":"error","error":"no ${text}"}`);
  const clean = frame('\\u00e9');
  expect(createByteMask(key)(clean)).toBe(clean);
  const busy = frame('20% of &c. a\\n100%');
  expect(createByteMask(key)(busy)).toBe(busy);
  for (const echo of [key, unicode(key)]) {
    const masked = Buffer.from(createByteMask(key)(frame(echo))).toString();
    expect(masked).toBe(`{"type":"error","error":"no ${maskKey(key)}"}`);
  }
});

test('a key of fewer than 8 characters may be a word, so it is not masked', () => {
  expect(withoutKey('this is a test', 'test')).toBe('this is a test');
  expect(withoutKey('7 chars: abcdefg', 'abcdefg')).toBe('7 chars: abcdefg');
  expect(isKey('test', 'test')).toBe(false);
});

describe('a word', () => {
  test.each([
    'trdr_live_5ecre7P1anted',
    'acme_test_0123456789abcdef',
    '@trdr_test_0123456789abcdef',
    'x_live_abcdefghijklmnop',
    'k2_live_a-b_c-d9',
  ])('%s looks like a key', (word) => {
    expect(isKey(word)).toBe(true);
    expect(withoutKeys(`"${word}"`)).not.toContain(word.slice(-12));
  });

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
