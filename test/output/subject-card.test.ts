import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { holdsWallet, pendingReasons } from '../../src/contract/records/user.ts';
import { resolveView, whoisView } from '../../src/output/views/subject.ts';
import { print, type Row } from './print.ts';

const card = async (record: Row, view: unknown = whoisView) =>
  (await print([record], { view: view as never, format: 'table', single: true })).text.replace(
    /\s+/g,
    ' ',
  );

const resolveHelp = readFileSync(new URL('../../src/cli/commands/resolve.md', import.meta.url));

test.each(Object.entries(pendingReasons))(
  'a resolve without an answer says what %s means, on its card and in its help',
  async (reason, meaning) => {
    const record = { subject: 'mira', found: false, code: 'PENDING', reason, retryable: true };
    expect(await card(record, resolveView)).toContain(`note ${meaning}`);
    expect(resolveHelp.toString()).toContain(`- \`${reason}\`: ${meaning}`);
  },
);

test.each([
  ['0xdeadbeef', true],
  ['9WzDXwBbmkg8ZTbNMqUxv', true],
  ['0xMert', false],
  ['mira', false],
  ['GXGxnQNeLLboiUqKykCDk9m6uaZFSA29V9DZLnCa84pW', false],
  ['11111111111111111111111111111112', false],
  ['0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4', false],
])('the card of %s says if it was taken for a handle: %j', async (subject, isSaid) => {
  for (const record of [
    { subject, found: false, code: 'NOT_OBSERVED' },
    { subject, found: true, handle: subject },
  ])
    expect((await card(record)).includes('taken for a handle, not for')).toBe(isSaid);
});

test('the card of a wallet that was not asked for says what asking would cost', async () => {
  const text = await card({ subject: '0x52', found: null, code: 'NOT_ASKED' });
  expect(text).toContain(
    'asking the service itself costs 30,000 CU if it knows somebody, else 200',
  );
  expect(text).toContain('"trdr whois 0x52"');
});

test.each([null, ''])('a user without a wallet is not one who holds some: %j', async (none) => {
  const user = { handle: 'mira', solanaAddress: none, evmAddress: none };
  expect(holdsWallet(user)).toBe(false);
  expect(await card({ subject: 'mira', found: true, ...user })).toContain('none on record');
});
