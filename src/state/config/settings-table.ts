import { duration, timeout } from '../../base/time-values.ts';
import { baseUrl, storeUrl } from '../../base/url-values.ts';
import {
  commandLine,
  filePath,
  integer,
  type Kind,
  oneOf,
  onOff,
  plainName,
  share,
  units,
} from '../../base/values.ts';
import { timeoutText } from '../../contract/limits.ts';

export interface SettingRow<T, D extends T | undefined = T | undefined> {
  readonly kind: Kind<T>;
  readonly fallback: D;
  /** What trdr does without the setting; by default the fallback, or none. */
  readonly fallbackText?: string;
  readonly flag?: string;
  readonly env?: string;
  /** Whether the config file contains the user's text instead of the parsed value. */
  readonly asWritten?: boolean;
  readonly about: string;
}

const row = <T, const D extends T | undefined>(setting: SettingRow<T, D>) => ({
  fallbackText: String(setting.fallback ?? 'none'),
  ...setting,
});

export const outputFormats = ['table', 'ndjson', 'json', 'csv', 'tsv', 'markdown'] as const;

/**
 * Resolution, `config`, docs and completions are derived from this table. A row with a flag also needs a flag
 * of the same name in `cli/args/common.ts`.
 */
export const settingRows = {
  baseUrl: row({
    kind: baseUrl,
    fallback: undefined,
    flag: '--base-url',
    env: 'TRDR_BASE_URL',
    about: 'base URL of the service',
  }),
  output: row({
    kind: oneOf(...outputFormats),
    fallback: undefined,
    fallbackText: 'table on a terminal, otherwise ndjson',
    flag: '--output',
    env: 'TRDR_OUTPUT',
    about: 'output format',
  }),
  color: row({
    kind: oneOf('auto', 'always', 'never'),
    fallback: 'auto',
    flag: '--color',
    about: 'color in tables and messages',
  }),
  utc: row({
    kind: onOff,
    fallback: false as boolean,
    flag: '--utc',
    about: 'show times in UTC',
  }),
  confirmAbove: row({
    kind: units,
    fallback: 100_000 as number,
    about: 'ask before a run that can cost more CU than this',
  }),
  maxCu: row({
    kind: units,
    fallback: undefined,
    flag: '--max-cu',
    about: 'spend at most this many CU in a run',
  }),
  budgetDay: row({
    kind: units,
    fallback: undefined,
    about: 'spend at most this many CU per UTC day, over all runs of the profile',
  }),
  budgetMonth: row({
    kind: units,
    fallback: undefined,
    about: 'spend at most this many CU per UTC month, over all runs of the profile',
  }),
  maxAge: row({
    kind: duration,
    asWritten: true,
    fallback: 3_600_000 as number,
    fallbackText: '1h; trading numbers 10m',
    flag: '--max-age',
    about: 'maximum age of a cached answer',
  }),
  retries: row({
    kind: integer({ min: 0, max: 100 }),
    fallback: 4 as number,
    flag: '--retries',
    about: 'retries after a transient failure',
  }),
  timeout: row({
    kind: timeout,
    asWritten: true,
    fallback: undefined,
    fallbackText: timeoutText,
    flag: '--timeout',
    about: 'timeout of each request',
  }),
  socketShare: row({
    kind: share,
    asWritten: true,
    fallback: 0.1 as number,
    fallbackText: '10%',
    about:
      'share of the remaining units of a month that a tail may spend on the WebSocket before it falls back to polling',
  }),
  insecureHttp: row({
    kind: onOff,
    fallback: false as boolean,
    flag: '--insecure-http',
    about: 'allow plain HTTP to other machines',
  }),
  keyCommand: row({
    kind: commandLine,
    fallback: undefined,
    env: 'TRDR_KEY_COMMAND',
    about: 'command that prints the API key, run with /bin/sh when the key is needed',
  }),
  store: row({
    kind: storeUrl,
    fallback: undefined,
    env: 'TRDR_STORE',
    about: 'store that all machines of a key share: a Redis or Valkey URL without password, or off',
  }),
  storePasswordCommand: row({
    kind: commandLine,
    fallback: undefined,
    env: 'TRDR_STORE_PASSWORD_COMMAND',
    about: 'command that prints the password of the store',
  }),
  storeCa: row({
    kind: filePath,
    fallback: undefined,
    fallbackText: "the system's",
    env: 'TRDR_STORE_CA',
    about: 'PEM file of the certificate authority that signed the certificate of the store',
  }),
  storePrefix: row({
    kind: plainName,
    fallback: 'trdr' as string,
    about: 'prefix of all Redis keys in the store',
  }),
  storeAway: row({
    kind: oneOf('local', 'stop'),
    fallback: 'local',
    env: 'TRDR_STORE_AWAY',
    about: 'if the store is unavailable: use the files of this machine, or stop paid calls',
  }),
  storePlain: row({
    kind: onOff,
    fallback: false as boolean,
    about: 'allow an unencrypted connection to a store on another machine',
  }),
  machine: row({
    kind: plainName,
    fallback: undefined,
    fallbackText: 'the host name',
    env: 'TRDR_MACHINE',
    about: 'name of this machine in the store',
  }),
  egress: row({
    kind: plainName,
    fallback: 'shared' as string,
    env: 'TRDR_EGRESS',
    about:
      "name for this machine's public IP address: machines with the same name share the rate limit of resolve",
  }),
} as const;

type Rows = typeof settingRows;
export type SettingName = keyof Rows;
/** A setting without a default may be undefined. */
export type SettingValue<N extends SettingName> =
  | NonNullable<ReturnType<Rows[N]['kind']['read']>>
  | Rows[N]['fallback'];

export type SettingValues = { readonly [N in SettingName]: SettingValue<N> };

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingRows, name);

export const settingNames: readonly SettingName[] = Object.keys(settingRows).filter(isSettingName);
