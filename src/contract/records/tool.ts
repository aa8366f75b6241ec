import * as z from 'zod/mini';
import { field } from '../field.ts';

/** A request that a dry run would send. */
export const PlannedCall = z.looseObject({
  endpoint: field(z.string(), 'Id of the endpoint, or ws.'),
  method: z.string(),
  path: z.string(),
  body: z.optional(field(z.unknown(), 'The body, where the call has one.')),
  times: z.optional(field(z.nullable(z.int()), 'How often at the most; null: as long as it runs.')),
  least: field(z.nullable(z.number()), 'CU at the least; null: not known.'),
  most: field(z.nullable(z.number()), 'CU at the most; null: no bound but the ceiling.'),
});
export type PlannedCall = z.infer<typeof PlannedCall>;

/** A row of the price list. */
export const PriceRecord = z.looseObject({
  endpoint: z.string(),
  method: z.string(),
  path: z.string(),
  least: field(z.number(), 'CU at the least, for one call or one handle.'),
  most: field(z.number(), 'CU at the most, for one call or one handle.'),
  price: field(z.string(), 'The rule.'),
});
export type PriceRecord = z.infer<typeof PriceRecord>;

/** A group of the ledger. */
export const UsageRecord = z.looseObject({
  group: field(z.string(), 'The command, endpoint, day or profile.'),
  calls: z.int(),
  cu: z.number(),
  cuAtMost: z.optional(field(z.number(), 'Where answers were lost: what may have been charged beyond cu.')),
});
export type UsageRecord = z.infer<typeof UsageRecord>;

/** The ledger held against the service's own meter. */
export const ReconcileRecord = z.looseObject({
  period: z.string(),
  ledgerCu: field(z.number(), 'What this machine wrote down in the period.'),
  serviceCu: field(z.number(), 'What the service counted for the key.'),
  drift: field(z.number(), 'serviceCu minus ledgerCu: other users of the key, or lost answers.'),
  lostAtMost: field(z.number(), 'What lost answers may account for.'),
});
export type ReconcileRecord = z.infer<typeof ReconcileRecord>;

/** One line of `trdr usage`. */
export const UsageAnswer = z.union([UsageRecord, ReconcileRecord]);

/** The answers kept on this machine. */
export const CacheRecord = z.looseObject({
  entries: z.int(),
  found: field(z.int(), 'Answers that hold a record.'),
  missing: field(z.int(), 'Answers that no link is held.'),
  bytes: z.int(),
  oldest: field(z.nullable(z.int()), 'Epoch ms.'),
  newest: field(z.nullable(z.int()), 'Epoch ms.'),
  path: field(z.nullable(z.string()), 'Null where there is no folder to keep them in.'),
});
export type CacheRecord = z.infer<typeof CacheRecord>;

/** A profile and where its values come from. */
export const ProfileRecord = z.looseObject({
  profile: z.string(),
  current: z.boolean(),
  baseUrl: z.nullable(z.string()),
  baseUrlFrom: z.nullable(z.string()),
  key: field(z.nullable(z.string()), 'Masked.'),
  keyFrom: z.nullable(z.string()),
  mode: field(z.nullable(z.enum(['live', 'test'])), 'Which kind of key it is, by its prefix.'),
  check: z.optional(field(z.string(), 'What the service said of the key; with --check.')),
});
export type ProfileRecord = z.infer<typeof ProfileRecord>;

/** A setting. */
export const SettingRecord = z.looseObject({
  setting: z.string(),
  value: field(z.unknown(), 'Null where it is not set.'),
  origin: z.optional(field(z.string(), 'Where the value comes from; with --origin.')),
});
export type SettingRecord = z.infer<typeof SettingRecord>;

/** A check of `trdr doctor`. */
export const CheckRecord = z.looseObject({
  check: z.string(),
  verdict: z.enum(['ok', 'warn', 'fail', 'skip']),
  detail: z.string(),
  next: z.optional(field(z.string(), 'What to do about it.')),
});
export type CheckRecord = z.infer<typeof CheckRecord>;

/** What `trdr sandbox` prints when it is ready. */
export const SandboxRecord = z.looseObject({
  url: z.string(),
  key: field(z.string(), 'A key of the sandbox that works.'),
});
export type SandboxRecord = z.infer<typeof SandboxRecord>;

/** An entry of the board, with what changed since the snapshot it is compared with. */
export const BoardRecord = z.looseObject({
  rank: field(z.nullable(z.int()), 'Null for one who left the board.'),
  wallet: z.string(),
  username: z.nullable(z.string()),
  isVerified: z.nullable(z.boolean()),
  pnlSol: z.nullable(z.number()),
  pnlUsd: z.nullable(z.number()),
  pnlPercent: z.nullable(z.number()),
  realizedPnlUsd: z.nullable(z.number()),
  unrealizedPnlUsd: z.nullable(z.number()),
  previousRank: z.optional(field(z.nullable(z.int()), 'With --compare; null for one who is new.')),
  change: z.optional(field(z.enum(['up', 'down', 'same', 'new', 'left']), 'With --compare.')),
  rankChange: z.optional(field(z.nullable(z.int()), 'With --compare: places won, negative when lost.')),
});
export type BoardRecord = z.infer<typeof BoardRecord>;
