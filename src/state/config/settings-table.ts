import { integer, share, units } from '../../base/amounts.ts';
import { duration, timeout } from '../../base/durations.ts';
import type { Hint } from '../../base/failure.ts';
import { Failure } from '../../base/failure.ts';
import { baseUrl, storeUrl } from '../../base/url-values.ts';
import {
  commandLine,
  filePath,
  type Kind,
  oneOf,
  onOff,
  orSynonym,
  plainName,
} from '../../base/values.ts';
import { ANSWER_AGE_MS } from '../../contract/answer-age.ts';
import { RETRIES, timeoutText } from '../../contract/limits.ts';

interface More {
  /** What trdr does without the setting; by default the fallback, or none. */
  readonly fallbackText?: string;
  readonly flag?: string;
  readonly env?: string;
  /** Whether the config file contains the user's text instead of the parsed value. */
  readonly asWritten?: boolean;
  /** Whether only runs with a store use it. */
  readonly isOfStore?: true;
  /** The command that saves it in place of `trdr config`. */
  readonly savedBy?: string;
}

export interface SettingRow<T, D extends T | undefined = T | undefined> extends More {
  readonly kind: Kind<T>;
  readonly fallback: D;
  readonly about: string;
  readonly fallbackText: string;
}

const row = <T, const D extends T | undefined, const M extends More = More>(
  kind: Kind<T>,
  fallback: D,
  about: string,
  more?: M,
): SettingRow<T, D> & Pick<M, keyof M & 'flag'> => ({
  kind,
  fallback,
  about,
  fallbackText: String(fallback ?? 'none'),
  ...(more as M),
});

export const outputFormats = ['table', 'ndjson', 'json', 'csv', 'tsv', 'markdown'] as const;
export const outputFormat = orSynonym(oneOf(...outputFormats), {
  jsonl: 'ndjson',
  md: 'markdown',
});

/**
 * Source of `config`, docs and completions. The compiler requires an option for each flag in
 * `cli/args/common.ts`.
 */
export const settingRows = {
  baseUrl: row(baseUrl, undefined, 'base URL of the service', {
    flag: '--base-url',
    env: 'TRDR_BASE_URL',
  }),
  output: row(outputFormat, undefined, 'output format', {
    flag: '--output',
    env: 'TRDR_OUTPUT',
    fallbackText: 'table on a terminal, otherwise ndjson',
  }),
  color: row(oneOf('auto', 'always', 'never'), 'auto', 'color in tables and messages', {
    flag: '--color',
  }),
  utc: row(onOff, false as boolean, 'show times in UTC', { flag: '--utc' }),
  confirmAbove: row(units, 100_000 as number, 'ask before a run that can cost more CU than this'),
  maxCu: row(units, undefined, 'spend at most this many CU in a run', { flag: '--max-cu' }),
  budgetDay: row(
    units,
    undefined,
    'spend at most this many CU per UTC day, over all runs of the profile',
    { savedBy: 'trdr budget' },
  ),
  budgetMonth: row(
    units,
    undefined,
    'spend at most this many CU per UTC month, over all runs of the profile',
    { savedBy: 'trdr budget' },
  ),
  budgetDayReveals: row(
    integer({ min: 0 }),
    undefined,
    'reveal at most this many wallets per UTC day, over all runs of the profile',
    { savedBy: 'trdr budget' },
  ),
  budgetMonthReveals: row(
    integer({ min: 0 }),
    undefined,
    'reveal at most this many wallets per UTC month, over all runs of the profile',
    { savedBy: 'trdr budget' },
  ),
  maxAge: row(duration, ANSWER_AGE_MS as number, 'maximum age of a cached answer', {
    flag: '--max-age',
    asWritten: true,
    fallbackText: '1h; trading numbers and posts 10m',
  }),
  retries: row(
    integer({ min: 0, max: 100 }),
    RETRIES as number,
    'retries after a transient failure',
    {
      flag: '--retries',
    },
  ),
  timeout: row(timeout, undefined, 'timeout of each request', {
    flag: '--timeout',
    asWritten: true,
    fallbackText: timeoutText,
  }),
  socketShare: row(
    share,
    0.1 as number,
    'share of the remaining units of a month that a tail may spend on the WebSocket before it falls back to polling',
    { asWritten: true, fallbackText: '10%' },
  ),
  insecureHttp: row(onOff, false as boolean, 'allow plain HTTP to other machines', {
    flag: '--insecure-http',
  }),
  keyCommand: row(
    commandLine,
    undefined,
    'command that prints the API key, run with /bin/sh when the key is needed',
    { env: 'TRDR_KEY_COMMAND' },
  ),
  keyHeader: row(
    oneOf('authorization', 'x-api-key'),
    'authorization',
    'header with the API key, for a gateway that passes on only one of them',
    { env: 'TRDR_KEY_HEADER' },
  ),
  store: row(
    storeUrl,
    undefined,
    'store that all machines of a key share: a Redis or Valkey URL without password, or off',
    { env: 'TRDR_STORE' },
  ),
  storePasswordCommand: row(
    commandLine,
    undefined,
    'command that prints the password of the store',
    { env: 'TRDR_STORE_PASSWORD_COMMAND', isOfStore: true },
  ),
  storeCa: row(
    filePath,
    undefined,
    'PEM file of the certificate authority that signed the certificate of the store',
    { env: 'TRDR_STORE_CA', fallbackText: "the system's", isOfStore: true },
  ),
  storePrefix: row(plainName, 'trdr' as string, 'prefix of all Redis keys in the store', {
    isOfStore: true,
  }),
  storeAway: row(
    oneOf('local', 'stop'),
    'local',
    'if the store is unavailable: use the files of this machine, or stop paid calls',
    { env: 'TRDR_STORE_AWAY', isOfStore: true },
  ),
  storePlain: row(
    onOff,
    false as boolean,
    'allow an unencrypted connection to a store on another machine',
    { isOfStore: true },
  ),
  machine: row(plainName, undefined, 'name of this machine in the store', {
    env: 'TRDR_MACHINE',
    fallbackText: 'the host name',
    isOfStore: true,
  }),
  egress: row(
    plainName,
    'shared' as string,
    "name for this machine's public IP address: machines with the same name share the rate limit of resolve",
    { env: 'TRDR_EGRESS', isOfStore: true },
  ),
} as const;

type Rows = typeof settingRows;
export type SettingName = keyof Rows;
/** The settings that a flag of the same name overrides. */
export type FlaggedSetting = {
  [N in SettingName]: Rows[N] extends { readonly flag: string } ? N : never;
}[SettingName];
/** A setting without a default may be undefined. */
export type SettingValue<N extends SettingName> =
  | NonNullable<ReturnType<Rows[N]['kind']['read']>>
  | Rows[N]['fallback'];

export type SettingValues = { readonly [N in SettingName]: SettingValue<N> };

export const isSettingName = (name: string): name is SettingName =>
  Object.hasOwn(settingRows, name);

export const settingNames: readonly SettingName[] = Object.keys(settingRows).filter(isSettingName);

/** The settings that `trdr config` shows and changes. */
export const configNames: readonly SettingName[] = settingNames.filter(
  (name) => !('savedBy' in settingRows[name]),
);

type Plain = string | number | boolean;

/**
 * Parses the value of a setting. The error does not quote it, because it may be a URL with a
 * password.
 */
export function readSetting<N extends SettingName>(
  name: N,
  stored: unknown,
  where: string,
  hint?: Hint,
): SettingValue<N> {
  const kind: Kind<SettingValue<SettingName> & Plain> = settingRows[name].kind;
  const plain =
    typeof stored === 'string' || typeof stored === 'number' || typeof stored === 'boolean';
  const value = plain ? kind.read(String(stored).trim()) : undefined;
  if (value !== undefined) return value as SettingValue<N>;
  const problem = plain && kind.problem?.(String(stored).trim());
  const why = problem || (hint === undefined ? '' : kind.hint);
  throw new Failure('usage', `invalid ${kind.noun} for ${where}${why === '' ? '' : `: ${why}`}`, {
    code: 'BAD_SETTING',
    hint: hint ?? kind.hint,
  });
}

export function storedSetting(name: SettingName, text: string): Plain {
  const value = readSetting(name, text, name);
  return settingRows[name].asWritten || value === undefined ? text.trim() : value;
}

export function needSettingName(name: string): SettingName {
  if (isSettingName(name)) return name;
  throw new Failure('usage', `unknown setting "${name}"`, {
    code: 'USAGE',
    hint: `available settings: ${configNames.join(', ')}`,
  });
}
