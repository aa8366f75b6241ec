import * as z from 'zod/mini';
import { field } from '../field.ts';

export const PlannedCall = z.looseObject({
  endpoint: field(z.string(), 'Id of the endpoint; ws for the WebSocket.'),
  method: field(z.string(), 'HTTP method.'),
  path: field(z.string(), 'Path and query.'),
  body: z.optional(field(z.unknown(), 'Request body, if the call has one.')),
  times: z.optional(
    field(
      z.nullable(z.int()),
      'Maximum number of calls, or of minutes on the WebSocket; null if the run has no known end.',
    ),
  ),
  per: z.optional(
    field(
      z.literal('minute'),
      'Present if the run repeats the call at intervals: times, least and most are then per minute.',
    ),
  ),
  least: field(z.nullable(z.number()), 'Minimum cost in CU; null if not known.'),
  most: field(
    z.nullable(z.number()),
    'Maximum cost in CU; null if not known, or bounded only by the spending limit.',
  ),
});
export type PlannedCall = z.infer<typeof PlannedCall>;

export const PriceRecord = z.looseObject({
  endpoint: field(z.string(), 'Id of the endpoint; ws for the WebSocket.'),
  method: field(z.string(), 'HTTP method.'),
  path: field(z.string(), 'Path, with placeholders for its parameters.'),
  least: field(z.number(), 'Minimum cost in CU of one call; for a batch, of each handle.'),
  most: field(z.number(), 'Maximum cost in CU of one call; for a batch, of each handle.'),
  price: field(z.string(), 'The pricing rule.'),
});
export type PriceRecord = z.infer<typeof PriceRecord>;

/** The field by which the entries are grouped contains the name of the group. */
const UsageRecord = z.looseObject({
  command: z.optional(field(z.string(), 'With --by command (the default): the command.')),
  endpoint: z.optional(field(z.string(), 'With --by endpoint: id of the endpoint; ws for the WebSocket.')),
  day: z.optional(field(z.string(), 'With --by day: UTC day, YYYY-MM-DD.')),
  profile: z.optional(field(z.string(), 'With --by profile: name of the profile.')),
  host: z.optional(field(z.string(), 'With --by host: name of the machine.')),
  machine: z.optional(field(z.string(), 'With --by machine (the same as --by host): name of the machine.')),
  agent: z.optional(
    field(
      z.string(),
      'With --by agent: name of the agent that ran the commands; none if a person or a job did.',
    ),
  ),
  calls: field(z.int(), 'Number of paid calls.'),
  cu: field(z.number(), 'CU that were certainly charged.'),
  cuAtMost: z.optional(field(z.number(), 'Maximum CU, if the cost of some calls is uncertain.')),
  unpriced: z.optional(
    field(z.int(), 'Number of calls whose price is not known; neither cu nor cuAtMost includes them.'),
  ),
});
export type UsageRecord = z.infer<typeof UsageRecord>;

export const ReconcileRecord = z.looseObject({
  period: field(z.string(), 'UTC month, YYYY-MM.'),
  ledgerCu: field(z.number(), 'CU that this machine certainly spent in the period, by its ledger.'),
  serviceCu: field(z.number(), 'CU used by the key, as reported by the service.'),
  drift: field(z.number(), 'serviceCu minus ledgerCu.'),
  lostAtMost: field(
    z.number(),
    'Maximum part of the drift, in CU, that calls of uncertain cost can explain.',
  ),
  unpriced: z.optional(field(z.int(), 'Number of calls in the period whose price is not known.')),
});
export type ReconcileRecord = z.infer<typeof ReconcileRecord>;

export const UsageAnswer = z.union([UsageRecord, ReconcileRecord]);

export const CacheRecord = z.looseObject({
  entries: field(z.int(), 'Number of cached answers.'),
  found: field(z.int(), 'Number of cached answers with a record.'),
  missing: field(z.int(), 'Number of cached answers without a record, because no verified link was found.'),
  bytes: field(z.int(), 'Size of the cache on disk, in bytes.'),
  oldest: field(z.nullable(z.int()), 'Time of the oldest answer, epoch ms.'),
  newest: field(z.nullable(z.int()), 'Time of the newest answer, epoch ms.'),
  path: field(z.nullable(z.string()), 'Folder of the cache; null if the cache is off.'),
});
export type CacheRecord = z.infer<typeof CacheRecord>;

export const ProfileRecord = z.looseObject({
  profile: field(z.string(), 'Name of the profile.'),
  current: field(z.boolean(), 'Whether this profile is in use.'),
  baseUrl: field(z.nullable(z.string()), 'Base URL of the service; null if none is configured.'),
  baseUrlFrom: field(z.nullable(z.string()), 'Where the base URL comes from.'),
  key: field(z.nullable(z.string()), 'The key, masked; null if there is none.'),
  keyFrom: field(z.nullable(z.string()), 'Where the key comes from.'),
  mode: field(z.nullable(z.enum(['live', 'test'])), 'Type of the key, by its prefix.'),
  check: z.optional(field(z.string(), 'With --check: ok, or an error code, from the service or from trdr.')),
});
export type ProfileRecord = z.infer<typeof ProfileRecord>;

export const SettingRecord = z.looseObject({
  setting: field(z.string(), 'Name of the setting.'),
  value: field(z.unknown(), 'Effective value; null if the setting has none.'),
  origin: z.optional(field(z.string(), 'With --origin: where the value comes from.')),
});
export type SettingRecord = z.infer<typeof SettingRecord>;

export const CheckRecord = z.looseObject({
  check: field(z.string(), 'Name of the check.'),
  verdict: field(z.enum(['ok', 'warn', 'fail', 'skip']), 'Result of the check.'),
  detail: field(z.string(), 'Details of the result.'),
  next: z.optional(field(z.string(), 'How to fix the problem.')),
});
export type CheckRecord = z.infer<typeof CheckRecord>;

export const SandboxRecord = z.looseObject({
  url: field(z.string(), 'Base URL of the sandbox.'),
  key: field(z.string(), 'API key that the sandbox accepts.'),
  port: field(z.int(), 'Port the sandbox listens on.'),
});
export type SandboxRecord = z.infer<typeof SandboxRecord>;

/** With the changes since the snapshot given by --compare. */
export const BoardRecord = z.looseObject({
  rank: field(
    z.nullable(z.int()),
    'Position on the leaderboard, 1 is highest; null for a trader who is no longer on it.',
  ),
  wallet: field(z.string(), 'Wallet of the trader.'),
  username: field(z.nullable(z.string()), 'Launchpad username.'),
  isVerified: field(z.nullable(z.boolean()), 'Whether the launchpad marks the account as verified.'),
  pnlSol: field(z.nullable(z.number()), 'Realized plus unrealized PnL in SOL.'),
  pnlUsd: field(z.nullable(z.number()), 'Realized plus unrealized PnL in USD.'),
  pnlPercent: field(z.nullable(z.number()), 'Realized plus unrealized PnL in percent.'),
  realizedPnlUsd: field(z.nullable(z.number()), 'Realized PnL in USD.'),
  unrealizedPnlUsd: field(z.nullable(z.number()), 'Unrealized PnL in USD.'),
  previousRank: z.optional(
    field(
      z.nullable(z.int()),
      'With --compare: rank in the earlier snapshot; null for a trader who was not in it.',
    ),
  ),
  change: z.optional(
    field(
      z.enum(['up', 'down', 'same', 'new', 'left']),
      'With --compare: what changed since the earlier snapshot.',
    ),
  ),
  rankChange: z.optional(
    field(z.nullable(z.int()), 'With --compare: positions gained; negative for positions lost.'),
  ),
});
export type BoardRecord = z.infer<typeof BoardRecord>;
