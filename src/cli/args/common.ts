import { integer, units } from '../../base/amounts.ts';
import { duration, timeout } from '../../base/durations.ts';
import { oneOf } from '../../base/values.ts';
import { timeoutText } from '../../contract/limits.ts';
import {
  type FlaggedSetting,
  outputFormat,
  type outputFormats,
} from '../../state/config/settings-table.ts';
import { excluding, flag, type GivenFlags, type Options, value } from './option.ts';
import { file, outFile, receiptFile, text } from './values.ts';

export type Common = 'output' | 'service' | 'money';

export type OutputFormat = (typeof outputFormats)[number];

export const helpFlag = flag(
  '-h, --help',
  'show help: -h its flags and examples, --help all of it',
);

const always = {
  help: helpFlag,
  quiet: flag('-q, --quiet', 'suppress notices on stderr'),
  debug: flag('--debug', 'trace requests on stderr (keys are masked)'),
  color: value('--color', 'color in tables and messages', oneOf('auto', 'always', 'never'), 'auto'),
  noPager: flag('--no-pager', 'print long tables without a pager'),
  profile: value('--profile', 'use this profile', text('name', 'profile')),
  sandbox: excluding(
    flag('--sandbox', 'use the embedded service: no key, no network, no cost'),
    '--base-url',
  ),
} satisfies Options;

const output = {
  output: value(
    '-o, --output',
    'output format',
    outputFormat,
    'table on a terminal, otherwise ndjson',
  ),
  json: flag('--json', 'same as -o json'),
  fields: value(
    '--fields',
    'print these fields, in this order; brief; .name if undocumented',
    text('fields'),
  ),
  out: value('--out', 'write to FILE; the extension sets the format (- for stdout)', outFile),
  utc: flag('--utc', 'show times in UTC'),
  times: value(
    '--times',
    'format of timestamps in JSON, NDJSON, CSV and TSV',
    oneOf('iso', 'ms'),
    'ms',
  ),
  bom: flag('--bom', 'start CSV with a byte order mark, for Excel'),
  wide: flag('--wide', 'show all columns of a table, without shortening values'),
} satisfies Options;

const service = {
  baseUrl: value('--base-url', 'base URL of the service', text('url')),
  dryRun: flag('--dry-run', 'print the calls and their cost without sending them'),
  curl: excluding(
    flag('--curl', 'with --dry-run: print each call as a curl command line'),
    '--output',
    '--json',
  ),
  retries: value(
    '--retries',
    'retries after a transient failure',
    integer({ min: 0, max: 100 }),
    '4',
  ),
  timeout: value('--timeout', 'timeout of each request', timeout, timeoutText),
  insecureHttp: flag('--insecure-http', 'allow plain HTTP to other machines'),
} satisfies Options;

const money = {
  maxCu: value('--max-cu', 'spend at most this many CU in this run', units),
  maxReveals: value('--max-reveals', 'reveal at most this many wallets', integer({ min: 0 })),
  receipt: value(
    '--receipt',
    'write what the run cost to FILE as JSON (- for stderr)',
    receiptFile,
  ),
  yes: flag('-y, --yes', 'skip the cost confirmation'),
} satisfies Options;

export const commonGroups = { output, service, money } as const satisfies Record<Common, Options>;
export const alwaysOptions: Options = always;

const everything = { ...always, ...output, ...service, ...money } satisfies Options &
  // Commands with cached answers have --max-age of their own.
  Record<Exclude<FlaggedSetting, 'maxAge'>, unknown>;
/**
 * The values of all common flags. If the command does not accept a flag, the value is the flag's
 * default.
 */
export type Globals = GivenFlags<typeof everything>;
export const everyCommonOption: Options = everything;

export function commonOptions(groups: readonly Common[]): Options {
  return Object.assign({}, always, ...groups.map((group) => commonGroups[group]));
}

/** The argument of commands that accept many subjects. */
export const subjectArgument = (name: string, help: string) =>
  ({
    name,
    help: `${help}; - reads them from stdin`,
    variadic: true,
    optional: true,
    complete: 'handle',
  }) as const;

export const subjectOptions = {
  file: value('--file', 'read one subject per line from FILE (- for stdin)', file),
  column: value(
    '--column',
    'the column or field with the subjects (CSV, TSV, NDJSON)',
    text('name'),
  ),
  strict: flag('--strict', 'exit 10 if any subject is missing or failed'),
} satisfies Options;

const asOption = value('--as', 'treat every subject as this type', oneOf('handle', 'wallet', 'id'));

export const cacheOptions = (ages: string) => ({
  maxAge: value('--max-age', 'maximum age of a cached answer', duration, ages),
  noCache: excluding(flag('--no-cache', 'bypass the cache'), '--max-age'),
});

export const cachedSubjectOptions = (ages: string) => ({
  as: asOption,
  ...subjectOptions,
  ...cacheOptions(ages),
});
