import * as z from 'zod/mini';
import {
  boolean,
  field,
  float,
  floatOrNull,
  int,
  intOrNull,
  loose,
  nullable,
  optional,
  string,
  stringOrNull,
} from '../field.ts';
import { BoardEntry } from './launchpad.ts';
import { observed } from './provenance.ts';

export const PlannedCall = z.looseObject({
  endpoint: string('Id of the endpoint; ws for the WebSocket.'),
  method: string('HTTP method.'),
  path: string('Path and query.'),
  body: optional(z.unknown(), 'Request body, if the call has one.'),
  times: loose(
    z.int(),
    'Maximum number of calls, or of minutes on the WebSocket; null if the run has no known end.',
  ),
  per: optional(
    z.literal('minute'),
    'Present if the run repeats the call at intervals: times, least and most are then per minute.',
  ),
  least: floatOrNull('Minimum cost in CU; null if not known.'),
  most: floatOrNull(
    'Maximum cost in CU; null if not known, or bounded only by the spending limit.',
  ),
  reveals: loose(z.int(), 'Maximum number of wallets that are revealed, if any.'),
});
export type PlannedCall = z.infer<typeof PlannedCall>;

export const PriceRecord = z.looseObject({
  endpoint: string('Id of the endpoint; ws for the WebSocket.'),
  method: string('HTTP method.'),
  path: string('Path, with placeholders for its parameters.'),
  least: float('Minimum cost in CU of one call; for a batch, of each handle.'),
  most: float('Maximum cost in CU of one call; for a batch, of each handle.'),
  price: string('The pricing rule.'),
});
export type PriceRecord = z.infer<typeof PriceRecord>;

/** The field by which the entries are grouped contains the name of the group. */
const UsageRecord = z.looseObject({
  command: z.optional(string('If grouped by command (the default): the command.')),
  endpoint: z.optional(
    string('If grouped by endpoint or request: id of the endpoint; ws for the WebSocket.'),
  ),
  day: z.optional(string('If grouped by day: UTC day, YYYY-MM-DD.')),
  profile: z.optional(string('If grouped by profile: name of the profile.')),
  host: z.optional(string('If grouped by host: name of the machine.')),
  machine: z.optional(string('If grouped by machine (the same as host): name of the machine.')),
  agent: z.optional(
    string(
      'If grouped by agent: name of the agent that ran the commands; none if a person or a job did.',
    ),
  ),
  request: z.optional(
    string(
      'If grouped by request: id of the request, which support asks for; unknown without one.',
    ),
  ),
  sentAt: z.optional(int('If grouped by request: when it was sent, epoch ms.')),
  calls: int('Number of paid calls.'),
  cu: float('CU that were certainly charged.'),
  cuAtMost: z.optional(float('Maximum CU, if the cost of some calls is uncertain.')),
  reveals: z.optional(
    int('Wallets that were revealed; absent if only earlier versions recorded the calls.'),
  ),
  revealsAtMost: z.optional(int('Maximum, if the answers of some calls were lost.')),
  unpriced: z.optional(
    int('Number of calls whose price is not known; neither cu nor cuAtMost includes them.'),
  ),
});
export type UsageRecord = z.infer<typeof UsageRecord>;

export const ReconcileRecord = z.looseObject({
  period: string('UTC month, YYYY-MM.'),
  ledgerCu: float('CU that this machine certainly spent in the period, by its ledger.'),
  serviceCu: float('CU used by the key, as reported by the service.'),
  drift: float('serviceCu minus ledgerCu.'),
  lostAtMost: float('Maximum part of the drift, in CU, that calls of uncertain cost can explain.'),
  unpriced: z.optional(int('Number of calls in the period whose price is not known.')),
});
export type ReconcileRecord = z.infer<typeof ReconcileRecord>;

export const UsageAnswer = z.union([UsageRecord, ReconcileRecord]);

export const CacheRecord = z.looseObject({
  entries: int('Number of cached answers.'),
  found: int('Number of cached answers with a record.'),
  missing: int('Number of cached answers without a record, because no verified link was found.'),
  bytes: int('Size of the cache on disk, in bytes.'),
  oldest: intOrNull('Time of the oldest answer, epoch ms.'),
  newest: intOrNull('Time of the newest answer, epoch ms.'),
  path: stringOrNull('Folder of the cache; null if the cache is off.'),
  people: int('Number of people in the book, of whom an answer was paid for.'),
  wallets: int('Number of wallets in the book.'),
  peopleBytes: int('Size of the book on disk, in bytes.'),
  peopleOldest: intOrNull('When the person who was not read for longest was last read, epoch ms.'),
  peoplePath: stringOrNull('Folder of the book; null if there is none.'),
});
export type CacheRecord = z.infer<typeof CacheRecord>;

export const ProfileRecord = z.looseObject({
  profile: string('Name of the profile.'),
  current: boolean('Whether this profile is in use.'),
  baseUrl: stringOrNull('Base URL of the service; null if none is configured.'),
  baseUrlFrom: stringOrNull('Where the base URL comes from.'),
  key: stringOrNull('The key, masked; null if there is none.'),
  keyFrom: stringOrNull('Where the key comes from.'),
  mode: nullable(z.enum(['live', 'test']), 'Type of the key, by its prefix.'),
  check: z.optional(
    string('If it was checked: ok, or an error code, from the service or from trdr.'),
  ),
});
export type ProfileRecord = z.infer<typeof ProfileRecord>;

export const SettingRecord = z.looseObject({
  setting: string('Name of the setting.'),
  value: field(z.unknown(), 'Effective value; null if the setting has none.'),
  origin: z.optional(string('If asked for: where the value comes from.')),
});
export type SettingRecord = z.infer<typeof SettingRecord>;

export const CheckRecord = z.looseObject({
  check: string('Name of the check.'),
  verdict: field(z.enum(['ok', 'warn', 'fail', 'skip']), 'Result of the check.'),
  detail: string('Details of the result.'),
  next: z.optional(string('How to fix the problem.')),
});
export type CheckRecord = z.infer<typeof CheckRecord>;

export const SandboxRecord = z.looseObject({
  url: string('Base URL of the sandbox.'),
  key: string('API key that the sandbox accepts.'),
  port: int('Port the sandbox listens on.'),
});

export const BoardRecord = z.looseObject({
  ...BoardEntry.shape,
  rank: intOrNull(
    'Position on the leaderboard, 1 is highest; null for a trader who is no longer on it.',
  ),
  previousRank: loose(
    z.int(),
    'In a comparison: rank in the earlier snapshot; null for a trader who was not in it.',
  ),
  change: optional(
    z.enum(['up', 'down', 'same', 'new', 'left']),
    'In a comparison: what changed since the earlier snapshot.',
  ),
  rankChange: loose(z.int(), 'In a comparison: positions gained; negative for positions lost.'),
  trader: loose(
    z.string(),
    'If asked for: handle of the user behind the wallet; null if not known.',
  ),
  traderId: loose(z.string(), 'If asked for: id of the user behind the wallet; null if not known.'),
  period: z.optional(string('Period of the leaderboard: daily, weekly or monthly.')),
  capturedAt: loose(z.int(), 'When the snapshot was taken, epoch ms.'),
  ...observed,
});

/** A trader in the snapshots of a stretch. */
export const TraderHistoryRecord = z.looseObject({
  wallet: string('Wallet of the trader.'),
  username: stringOrNull('Launchpad username in the last snapshot with the trader.'),
  period: stringOrNull('Period of the leaderboard: daily, weekly or monthly.'),
  from: intOrNull('When the first snapshot was taken, epoch ms.'),
  to: intOrNull('When the last snapshot was taken, epoch ms.'),
  snapshots: int('Snapshots of the stretch.'),
  stood: int('Snapshots with the trader.'),
  rankFirst: intOrNull('Rank in the first snapshot; null if not on it.'),
  rankLast: intOrNull('Rank in the last snapshot; null if not on it.'),
  rankBest: intOrNull('Best rank.'),
  pnlUsdFirst: floatOrNull('PnL in the first snapshot, USD; null if not on it.'),
  pnlUsdLast: floatOrNull('PnL in the last snapshot, USD; null if not on it.'),
  pnlUsdLow: floatOrNull('Lowest PnL.'),
  pnlUsdHigh: floatOrNull('Highest PnL.'),
});
export type TraderHistoryRecord = z.infer<typeof TraderHistoryRecord>;

export const HistoryRecord = z.looseObject({
  ...BoardEntry.shape,
  period: z.optional(string('Period of the leaderboard: daily, weekly or monthly.')),
  capturedAt: loose(z.int(), 'When the snapshot was taken, epoch ms.'),
  ...observed,
});
