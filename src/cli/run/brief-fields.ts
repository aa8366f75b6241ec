import { usageError } from '../../base/failure.ts';
import type { FieldPath } from '../../contract/paths.ts';
import type { Me } from '../../contract/records/account.ts';
import type { CallerRecord } from '../../contract/records/caller.ts';
import type { SchemaRecord } from '../../contract/records/document.ts';
import type { ListedCallout } from '../../contract/records/launchpad.ts';
import type { AuthorRecord, PositionRecord, TokenRecord } from '../../contract/records/position.ts';
import type { StoreItem } from '../../contract/records/store.ts';
import type {
  ComparedUserRecord,
  LaunchpadUserRecord,
  PnlRecord,
  ResolveRecord,
  WhoisRecord,
} from '../../contract/records/subject.ts';
import type { TailRunRecord } from '../../contract/records/tail-run.ts';
import type { ListedThesis, RefreshedThesis } from '../../contract/records/thesis.ts';
import type {
  BoardRecord,
  CacheRecord,
  CheckRecord,
  HistoryRecord,
  PriceRecord,
  ProfileRecord,
  ReconcileRecord,
  SettingRecord,
  TraderHistoryRecord,
} from '../../contract/records/tool.ts';
import type { Verification } from '../../contract/records/verification.ts';
import type { Parsed } from '../args/parsed.ts';

type Given = Parsed['flags'];

/** Fields of a record: those that it does not have do not compile. */
const brief = <R>(fields: readonly FieldPath<R>[]): readonly FieldPath<R>[] => fields;

const userFields = [
  'subject',
  'found',
  'id',
  'handle',
  'name',
  'solanaAddress',
  'evmAddress',
  'code',
] as const;
const user = brief<typeof WhoisRecord>(userFields);
const comparedUser = brief<typeof ComparedUserRecord>([
  'subject',
  'found',
  'id',
  'handle',
  'code',
  'change',
  'changes.handle.was',
  'changes.solanaAddress.now',
  'changes.evmAddress.now',
]);
const author = brief<typeof AuthorRecord>([
  'subject',
  'found',
  'handle',
  'posts',
  'complete',
  'closed.positions',
  'closed.sumUsd',
  'closed.medianUsd',
  'open.positions',
]);
const token = brief<typeof TokenRecord>([
  'token',
  'symbol',
  'posts',
  'complete',
  'open.positions',
  'closed.positions',
  'closed.sumUsd',
  'first.author',
  'first.at',
]);
const position = brief<typeof PositionRecord>([
  'authorHandle',
  'token',
  'symbol',
  'status',
  'firstAt',
  'closedAt',
  'tradeUsd',
  'pnlUsd',
  'readAt',
]);
const thesis = brief<typeof ListedThesis>([
  'id',
  'platformCreatedAt',
  'authorHandle',
  'tokenSymbol',
  'tokenAddress',
  'holdingsUsd',
  'pnl',
  'closedAt',
  'thesis',
]);
const callout = brief<typeof ListedCallout>([
  'id',
  'createdAt',
  'userName',
  'wallet',
  'coinSymbol',
  'coinMint',
  'multiple',
  'thesis',
]);
const tailRun = brief<typeof TailRunRecord>([
  'output',
  'feed',
  'state',
  'words',
  'verifiedAt',
  'postsPerHour',
  'cuToday',
  'left',
  'exit',
]);
const check = brief<typeof CheckRecord>(['check', 'verdict', 'detail', 'next']);
const sum = brief<typeof StoreItem>([
  'item',
  'name',
  'state',
  'spent',
  'limit',
  'left',
  'renewsAt',
]);
const setting = brief<typeof SettingRecord>(['setting', 'value', 'origin']);

const numbers = brief<typeof PnlRecord>([
  'subject',
  'found',
  'handle',
  'windows.7d.netUsd',
  'windows.7d.returnPct',
  'windows.7d.rank',
  'error.code',
]);
const comparedNumbers = brief<typeof PnlRecord>([
  ...numbers.slice(0, -1),
  'change',
  'changes.7d.netUsd',
  'error.code',
]);

/** The fields of the records of --count-by; undefined without it. */
const countedFields = ({ countBy }: Given): readonly string[] | undefined =>
  countBy === undefined ? undefined : [String(countBy), 'posts', 'authors'];

/** @internal Exported for tests. */
export const briefFields: Readonly<
  Record<string, readonly string[] | ((flags: Given) => readonly string[])>
> = {
  whois: ({ compare }) => (compare === undefined ? user : comparedUser),
  resolve: brief<typeof ResolveRecord>([...userFields, 'source']),
  token: ({ positions }) => (positions ? position : token),
  author: ({ positions }) => (positions ? position : author),
  pnl: ({ compare }) => (compare === undefined ? numbers : comparedNumbers),
  'thesis list': (flags) => countedFields(flags) ?? thesis,
  'thesis tail': thesis,
  'launchpad user': brief<typeof LaunchpadUserRecord>([
    'subject',
    'found',
    'wallet',
    'username',
    'xUsername',
    'isVerified',
    'code',
  ]),
  'launchpad callouts': (flags) => countedFields(flags) ?? callout,
  'launchpad tail': callout,
  'thesis refresh': brief<typeof RefreshedThesis>([
    'id',
    'authorHandle',
    'tokenSymbol',
    'closedAt',
    'pnl',
    'gone',
  ]),
  'launchpad callers': ({ calls }) =>
    calls === true
      ? callout
      : brief<typeof CallerRecord>([
          'subject',
          'calls',
          'priced',
          'medianMultiple',
          'atLeast2x',
          'medianAgeMs',
          'lastAt',
          'code',
        ]),
  'launchpad history': ({ summary }) =>
    summary === true
      ? brief<typeof TraderHistoryRecord>([
          'username',
          'wallet',
          'rankFirst',
          'rankLast',
          'pnlUsdFirst',
          'pnlUsdLast',
          'stood',
        ])
      : brief<typeof HistoryRecord>(['capturedAt', 'rank', 'username', 'wallet', 'pnlUsd']),
  'launchpad board': brief<typeof BoardRecord>([
    'rank',
    'username',
    'wallet',
    'pnlUsd',
    'pnlPercent',
    'change',
  ]),
  tails: tailRun,
  me: brief<typeof Me>([
    'plan',
    'ratePerMinute',
    'usage.period',
    'usage.unitsRemaining',
    'usage.revealsRemaining',
  ]),
  price: brief<typeof PriceRecord>(['endpoint', 'least', 'most']),
  usage: ({ by = 'command', reconcile }) =>
    reconcile
      ? brief<typeof ReconcileRecord>(['period', 'ledgerCu', 'serviceCu', 'drift'])
      : [String(by), 'calls', 'cu', 'cuAtMost'],
  doctor: check,
  'store check': check,
  'store status': sum,
  'budget show': sum,
  verify: brief<typeof Verification>(['status', 'from', 'to', 'rows', 'gaps']),
  'auth status': brief<typeof ProfileRecord>(['profile', 'current', 'baseUrl', 'keyFrom']),
  'config list': setting,
  'config get': setting,
  'cache stats': brief<typeof CacheRecord>(['entries', 'bytes', 'path']),
  schema: brief<typeof SchemaRecord>(['command', 'summary', 'usage', 'prices', 'examples']),
};

export function fieldsOfRun(
  path: string,
  fields: string | undefined,
  flags: Given,
): string | undefined {
  if (fields === undefined || !/(^|,)\s*brief\s*(,|$)/.test(fields)) return fields;
  const chosen = briefFields[path];
  if (chosen === undefined)
    throw usageError(`"trdr ${path}" has no brief fields`, `see trdr schema ${path}`);
  const names = typeof chosen === 'function' ? chosen(flags) : chosen;
  return fields
    .split(',')
    .flatMap((name) => (name.trim() === 'brief' ? names : [name]))
    .join(',');
}
