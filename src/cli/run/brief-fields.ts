import { usageError } from '../../base/failure.ts';
import type { Parsed } from '../args/parsed.ts';

type Given = Parsed['given'];

const user = ['subject', 'found', 'id', 'handle', 'name', 'solanaAddress', 'evmAddress', 'code'];
const comparedUser = [
  'subject',
  'found',
  'id',
  'handle',
  'code',
  'change',
  'changes.handle.was',
  'changes.solanaAddress.now',
  'changes.evmAddress.now',
];
const author = [
  'subject',
  'found',
  'handle',
  'posts',
  'complete',
  'closed.positions',
  'closed.sumUsd',
  'closed.medianUsd',
  'open.positions',
];
const token = [
  'token',
  'symbol',
  'posts',
  'complete',
  'open.positions',
  'closed.positions',
  'closed.sumUsd',
  'first.author',
  'first.at',
];
const position = [
  'authorHandle',
  'token',
  'symbol',
  'status',
  'firstAt',
  'closedAt',
  'tradeUsd',
  'pnlUsd',
  'readAt',
];
const thesis = [
  'id',
  'platformCreatedAt',
  'authorHandle',
  'tokenSymbol',
  'tokenAddress',
  'holdingsUsd',
  'pnl',
  'closedAt',
  'thesis',
];
const callout = [
  'id',
  'createdAt',
  'userName',
  'wallet',
  'coinSymbol',
  'coinMint',
  'multiple',
  'thesis',
];
const tailRun = [
  'output',
  'feed',
  'state',
  'words',
  'verifiedAt',
  'postsPerHour',
  'cuToday',
  'left',
  'exit',
];
const check = ['check', 'verdict', 'detail', 'next'];
const sum = ['item', 'name', 'state', 'spent', 'limit', 'left', 'renewsAt'];
const setting = ['setting', 'value', 'origin'];

/** The fields of the records of --count-by; undefined without it. */
const countedFields = ({ countBy }: Given): readonly string[] | undefined =>
  countBy === undefined ? undefined : [String(countBy), 'posts', 'authors'];

/** @internal Exported for tests. */
export const briefFields: Readonly<
  Record<string, readonly string[] | ((given: Given) => readonly string[])>
> = {
  whois: ({ compare }) => (compare === undefined ? user : comparedUser),
  resolve: [...user, 'source'],
  token: ({ positions }) => (positions ? position : token),
  author: ({ positions }) => (positions ? position : author),
  pnl: ({ compare }) => [
    'subject',
    'found',
    'handle',
    ...['netUsd', 'returnPct', 'rank'].map((name) => `windows.7d.${name}`),
    ...(compare === undefined ? [] : ['change', 'changes.7d.netUsd']),
    'error.code',
  ],
  'thesis list': (given) => countedFields(given) ?? thesis,
  'thesis tail': thesis,
  'launchpad user': ['subject', 'found', 'wallet', 'username', 'xUsername', 'isVerified', 'code'],
  'launchpad callouts': (given) => countedFields(given) ?? callout,
  'launchpad tail': callout,
  'thesis refresh': ['id', 'authorHandle', 'tokenSymbol', 'closedAt', 'pnl', 'gone'],
  'launchpad callers': ({ calls }) =>
    calls === true
      ? callout
      : [
          'subject',
          'calls',
          'priced',
          'medianMultiple',
          'atLeast2x',
          'medianAgeMs',
          'lastAt',
          'code',
        ],
  'launchpad history': ({ summary }) =>
    summary === true
      ? ['username', 'wallet', 'rankFirst', 'rankLast', 'pnlUsdFirst', 'pnlUsdLast', 'stood']
      : ['capturedAt', 'rank', 'username', 'wallet', 'pnlUsd'],
  'launchpad board': ['rank', 'username', 'wallet', 'pnlUsd', 'pnlPercent', 'change'],
  tails: tailRun,
  me: ['plan', 'ratePerMinute', 'usage.period', 'usage.unitsRemaining', 'usage.revealsRemaining'],
  price: ['endpoint', 'least', 'most'],
  usage: ({ by = 'command', reconcile }) =>
    reconcile
      ? ['period', 'ledgerCu', 'serviceCu', 'drift']
      : [String(by), 'calls', 'cu', 'cuAtMost'],
  doctor: check,
  'store check': check,
  'store status': sum,
  'budget show': sum,
  verify: ['status', 'from', 'to', 'rows', 'gaps'],
  'auth status': ['profile', 'current', 'baseUrl', 'keyFrom'],
  'config list': setting,
  'config get': setting,
  'cache stats': ['entries', 'bytes', 'path'],
  schema: ['command', 'summary', 'usage', 'prices', 'examples'],
};

export function fieldsOfRun(
  path: string,
  fields: string | undefined,
  given: Given,
): string | undefined {
  if (fields === undefined || !/(^|,)\s*brief\s*(,|$)/.test(fields)) return fields;
  const brief = briefFields[path];
  if (brief === undefined)
    throw usageError(`"trdr ${path}" has no brief fields`, `see trdr schema ${path}`);
  const names = typeof brief === 'function' ? brief(given) : brief;
  return fields
    .split(',')
    .flatMap((name) => (name.trim() === 'brief' ? names : [name]))
    .join(',');
}
