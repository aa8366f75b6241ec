import { base58 } from '@scure/base';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { isLink, readSubject, type SubjectType } from '../../../src/core/lookup/subject.ts';

const MIXED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const WALLET = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const SOLANA = 'So11111111111111111111111111111111111111112';
const ID = '3F2504E0-4F89-41D3-9A0C-0305E82C3301';
const read = async (text: string, as?: SubjectType) => readSubject(text, as);
const tell = async (text: string, as?: SubjectType) => (await read(text, as)).type;
const refusal = async (text: string, as?: SubjectType) => {
  const reason: unknown = await read(text, as).catch((error: unknown) => error);
  if (!(reason instanceof Failure)) throw new Error(`${text} was taken`);
  return reason;
};

describe('a subject', () => {
  it.each<[string, SubjectType]>([
    ['mert', 'handle'],
    ['@mert', 'handle'],
    ['0xMert', 'handle'],
    ['0xdead', 'handle'],
    ['0xdeadbeefcafebabe', 'handle'],
    ['TheRealCryptoWizardOfSolana2024', 'handle'],
    [`@0x${'1a'.repeat(15)}`, 'handle'],
    ['ünïcode_😀', 'handle'],
    ['deadbeef', 'handle'],
    [`@${SOLANA}`, 'handle'],
    ['thequickbrownfoxjumpsoverthehazydogagainandag', 'handle'],
    [SOLANA, 'wallet'],
    ['11111111111111111111111111111111', 'wallet'],
    [MIXED, 'wallet'],
    [MIXED.toLowerCase(), 'wallet'],
    [`0x${MIXED.slice(2).toUpperCase()}`, 'wallet'],
    [ID, 'id'],
  ])('%s is detected as a %2$s', async (text, form) => {
    expect(await tell(` ${text} `)).toBe(form);
    // Invisible characters that copied text often contains.
    for (const [before, after] of [
      ['\u2066', '\u2069'],
      ['\u200b', '\ufeff'],
      ['\u202a', '\u202c\u00a0'],
      ['', '\u200e\u200d'],
    ]) {
      const read = await readSubject(`${before}${text}${after}`);
      expect(read).toEqual(await readSubject(text));
    }
  });

  it('may be an emoji of joined characters', async () => {
    expect(await tell('👩‍🚀')).toBe('handle');
  });

  it.each([
    'mi\u200bra',
    '@\u2066mira',
    'mi\u202era',
    'mi\u00adra',
    `${MIXED.slice(0, 20)}\u2060${MIXED.slice(20)}`,
  ])('is rejected if it contains an invisible character: %j', async (text) => {
    expect((await refusal(text)).message).toContain('invisible characters');
  });

  it.each(['m\ufffdra', 'm\0i\0r\0a'])('is rejected if it is not valid UTF-8: %j', async (text) => {
    expect((await refusal(text)).message).toContain('not valid UTF-8');
  });

  it.each([
    ['39 hex digits after 0x', MIXED.slice(0, -1).toLowerCase(), 'got 39'],
    ['30 hex digits after 0x', MIXED.slice(0, 32), 'got 30'],
    ['20 hex digits after 0x', MIXED.slice(0, 22), 'got 20'],
    ['41 hex digits after 0x', `${MIXED}a`, 'got 41'],
    ['a private key', `0x${'a'.repeat(64)}`, 'got 64'],
    ['40 hex digits without 0x', MIXED.slice(2), 'starts with 0x'],
    ['an O for a 0', MIXED.toLowerCase().replace('0x5', '0xO'), '"o" is not a hex digit'],
    ['a wrong checksum', MIXED.replace('a', 'A'), 'checksum'],
    ['44 base58 characters that encode 33 bytes', 'z'.repeat(44), 'these 44 characters encode 33'],
    [
      'a Solana address with one character more',
      `${base58.encode(new Uint8Array(32).fill(171))}x`,
      'encode 33',
    ],
    ['40 characters of a Solana address', WALLET.slice(0, 40), 'these 40 characters encode 29'],
    ['28 characters of a Solana address', WALLET.slice(-28), 'these 28 characters encode 21'],
    ['base58 with an O', SOLANA.replace('S', 'xO').replace('o111', 'oAb'), '"O" cannot occur'],
    ['nothing', ' ', 'empty'],
    ['a space within', 'a b', 'no spaces'],
    ['a list', '@a,b', 'expected one subject'],
    ['a list with semicolons', `${SOLANA}; ${MIXED}`, 'expected one subject'],
    ['a handle that is too long', 'a'.repeat(65), 'at most 64'],
    ['a link to a post without its author', 'https://x.com/i/status/1', 'link'],
    ['a link to a transaction', `https://solscan.io/tx/${SOLANA}`, 'link'],
    ['a link to a pair', `https://dexscreener.com/solana/${SOLANA}`, 'link'],
    ['a link to a token', `https://solscan.io/token/${SOLANA}`, 'a link to a token'],
    ['a link to a coin', `https://pump.fun/coin/${SOLANA}`, 'a link to a token'],
    ['a link with a typo', `https://etherscan.io/address/${MIXED.replace('A', 'a')}`, 'checksum'],
    ['a link to a page of X', 'x.com/home', 'link'],
    ['a link to another site', 'https://example.com/mert', 'link'],
    ['a path', 'desk/mert', 'a path'],
    ['a path after @', '@desk/mert', 'a path'],
    ['a cut user id', '3f679da5-8c94-4e2e-a551', 'a user id has 36 characters'],
    ['a user id without its last digit', '3f679da5-8c94-4e2e-a551-213b7510858', 'got 35'],
    ['a wallet as tables show it', 'AvQM…PyXR', 'this wallet is shortened'],
    ['the same without Unicode', 'AvQM..PyXR', 'this wallet is shortened'],
    ['a wallet as other programs show it', '0x862A...54b4', 'this wallet is shortened'],
    ['the beginning of a wallet', '0x862A...', 'this wallet is shortened'],
    ['a handle as tables show it', '@whalelunar…', 'this handle is shortened'],
    ['dots', '..', 'dots'],
  ])('is rejected with a reason: %s', async (_, text, words) => {
    const failure = await refusal(text);
    expect(failure).toMatchObject({ kind: 'usage', code: 'BAD_SUBJECT' });
    expect(failure.message.toLowerCase()).toContain(words.toLowerCase());
  });

  it.each([
    'https://x.com/Mert',
    'http://www.x.com/mert/',
    'x.com/@mert',
    'twitter.com/mert?s=20',
    'https://mobile.twitter.com/mert#top',
    'https://x.com/Mert/status/1861000000000000000?s=20',
  ])('may be a link to a profile: %s', async (text) => {
    const subject = await read(text);
    expect(subject).toMatchObject({ text, type: 'handle', normal: 'mert' });
    expect(isLink(subject)).toBe(true);
    expect(isLink(await read('@mert'))).toBe(false);
    await refusal(text, 'wallet');
  });

  it.each([
    `https://solscan.io/account/${SOLANA}#portfolio`,
    `https://explorer.solana.com/address/${SOLANA}?cluster=mainnet`,
    `solana.fm/address/${SOLANA}/transactions`,
    `https://gmgn.ai/sol/address/${SOLANA}`,
    `https://pump.fun/profile/${SOLANA}`,
    `https://etherscan.io/address/${MIXED}`,
    `https://www.basescan.org/address/${MIXED.toLowerCase()}`,
    `https://debank.com/profile/${MIXED}/history`,
  ])('may be a link to a page about a wallet: %s', async (text) => {
    const wallet = text.includes('0x') ? MIXED.toLowerCase() : SOLANA;
    const subject = await read(text);
    expect(subject).toMatchObject({ text, type: 'wallet', normal: wallet });
    expect([isLink(subject), await read(text, 'wallet')]).toEqual([true, subject]);
    await refusal(text, 'handle');
  });

  it('is never a wallet that a table has shortened, whatever the flag', async () => {
    for (const text of ['AvQM…PyXR', '0x862A…54b4']) {
      const { hint } = await refusal(text, 'wallet');
      expect(hint).not.toContain('@handle');
      await refusal(text, 'handle');
    }
    expect(await tell('@a..b')).toBe('handle');
  });

  it('is cut in the error if it is long, because it may be a secret', async () => {
    expect((await refusal(`0x${'ab'.repeat(32)}`)).message).not.toContain('ab'.repeat(10));
  });

  it('has the type that the user gives', async () => {
    expect(await tell(SOLANA, 'handle')).toBe('handle');
    expect(await tell(ID, 'handle')).toBe('handle');
    expect(await tell(MIXED.slice(2), 'handle')).toBe('handle');
    expect((await refusal('mert', 'wallet')).hint).toBe('pass a complete address');
    expect((await refusal('z'.repeat(44), 'wallet')).hint).toBe('copy the address again');
    await refusal('mert', 'id');
    await refusal(MIXED.replace('a', 'A'), 'wallet');
  });

  it('has one normal form for all its spellings; Solana addresses have a single spelling', async () => {
    const normal = async (text: string) => (await readSubject(text)).normal;
    expect(await normal('@Mert')).toBe(await normal('mERT'));
    expect(await normal('@@mert')).toBe(await normal('mert'));
    expect(await normal(MIXED)).toBe(await normal(MIXED.toLowerCase()));
    expect(await normal(ID)).toBe(ID.toLowerCase());
    expect(await normal(SOLANA)).toBe(SOLANA);
  });
});
