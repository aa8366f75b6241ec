import { Failure } from '../contract/failure.ts';
import { baseUrl, choice, duration, flag, type Plain, type Reading, share, whole } from './readings.ts';

/** One setting: how it is read, what it is where nobody says, and what it is for. */
export interface SettingRow<T, D extends T | undefined = T | undefined> {
  readonly reading: Reading<T>;
  /** Undefined where there is none: `fallbackText` then says what happens. */
  readonly fallback: D;
  readonly fallbackText: string;
  /** The flag and the environment variable that say it, where there are. */
  readonly flag?: string;
  readonly env?: string;
  readonly about: string;
}

const row = <T, const D extends T | undefined>(setting: SettingRow<T, D>) => setting;

/** Every setting of a profile. The docs, the completions and `config set` read this table. */
export const settingRows = {
  baseUrl: row({
    reading: baseUrl,
    fallback: undefined,
    fallbackText: 'none',
    flag: '--base-url',
    env: 'TRDR_BASE_URL',
    about: 'base URL of the service',
  }),
  output: row({
    reading: choice('table', 'ndjson', 'json', 'csv'),
    fallback: undefined,
    fallbackText: 'table on a terminal, else ndjson',
    flag: '--output',
    env: 'TRDR_OUTPUT',
    about: 'output format',
  }),
  color: row({
    reading: choice('auto', 'always', 'never'),
    fallback: 'auto',
    fallbackText: 'auto',
    flag: '--color',
    about: 'colour in tables and messages',
  }),
  utc: row({
    reading: flag,
    fallback: false as boolean,
    fallbackText: 'false',
    flag: '--utc',
    about: 'show times in UTC',
  }),
  confirmAbove: row({
    reading: whole(0),
    fallback: 100_000 as number,
    fallbackText: '100000',
    about: 'ask before a command that can cost more units than this',
  }),
  maxCu: row({
    reading: whole(0),
    fallback: undefined,
    fallbackText: 'none',
    flag: '--max-cu',
    about: 'hard ceiling of a run, in units',
  }),
  maxAge: row({
    reading: duration,
    fallback: 3_600_000 as number,
    fallbackText: '1h',
    flag: '--max-age',
    about: 'how old a cached answer may be',
  }),
  retries: row({
    reading: whole(0, 100),
    fallback: 4 as number,
    fallbackText: '4',
    flag: '--retries',
    about: 'tries after a failure that may pass',
  }),
  timeout: row({
    reading: duration,
    fallback: undefined,
    fallbackText: '30s; resolve 60s',
    flag: '--timeout',
    about: 'time for one request',
  }),
  socketShare: row({
    reading: share,
    fallback: 0.1 as number,
    fallbackText: '10%',
    about: 'share of the units left that a live socket may use before polls take over',
  }),
  insecureHttp: row({
    reading: flag,
    fallback: false as boolean,
    fallbackText: 'false',
    flag: '--insecure-http',
    about: 'allow plain http beyond this machine',
  }),
} as const;

type Rows = typeof settingRows;
export type SettingName = keyof Rows;
/** The type of a setting's value, undefined included where it has no default. */
export type SettingValue<N extends SettingName> =
  | NonNullable<ReturnType<Rows[N]['reading']['read']>>
  | Rows[N]['fallback'];

export const isSettingName = (name: string): name is SettingName => Object.hasOwn(settingRows, name);

/** Names of all settings, in the order in which they are listed. */
export const settingNames: readonly SettingName[] = Object.keys(settingRows).filter(isSettingName);

/** The row's value of what was given, or a failure that says what would be right. The value is not repeated. */
export function readSetting<N extends SettingName>(
  name: N,
  given: unknown,
  where: string,
  hint?: string,
): SettingValue<N> {
  const reading: Reading<SettingValue<SettingName> & Plain> = settingRows[name].reading;
  const plain = typeof given === 'string' || typeof given === 'number' || typeof given === 'boolean';
  const value = plain ? reading.read(given) : undefined;
  if (value !== undefined) return value as SettingValue<N>;
  throw new Failure('usage', `${where} can't be read: write it as ${reading.form}`, {
    code: 'BAD_SETTING',
    hint,
  });
}

/** The setting of a name, or a failure that lists the names there are. */
export function needSettingName(name: string): SettingName {
  if (isSettingName(name)) return name;
  if (name === 'key') {
    throw new Failure('usage', 'a key is never taken from the command line', {
      code: 'USAGE',
      hint: 'run "trdr auth login", or give it on stdin with --with-key',
    });
  }
  throw new Failure('usage', `there is no setting "${name}"`, {
    code: 'USAGE',
    hint: `there are ${settingNames.join(', ')}`,
  });
}
