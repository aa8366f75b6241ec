import type { Failure } from '../../src/base/failure.ts';
import type { AnswerCache } from '../../src/contract/answer-ports.ts';
import { distinctHandles, normalHandle } from '../../src/contract/handles.ts';
import type { HttpRequest, Notice } from '../../src/contract/ports.ts';
import { cu } from '../../src/contract/prices.ts';
import type { PnlRecord } from '../../src/contract/records/subject.ts';
import { broken, noAnswer } from '../../src/core/http/network-failures.ts';
import { createAllowance } from '../../src/core/pnl/allowance.ts';
import { createSavedNumbers } from '../../src/core/pnl/cached-numbers.ts';
import { type BatchLog, createPnlRun } from '../../src/core/pnl/run-batches.ts';
import { error, json, rig } from './fakes.ts';

/**
 * What happens to a batch: it is served; the connection breaks before or after processing; it times out
 * during processing (at the client or at a gateway); it is rejected; or its response cannot be read.
 */
export type Fate = 'serve' | 'reset' | 'lost' | 'late' | 'slow' | 'gateway' | 'shape' | '500' | '400';

/** How long slow processing takes. */
const SLOW_MS = 20_000;

export interface ServiceTerms {
  readonly units?: number;
  readonly reveals?: number | null;
  /** The units used before the run. */
  readonly before?: number;
  /** Whether each wallet of a batch counts as a reveal, or the whole batch as one. */
  readonly perWallet?: boolean;
  readonly unmetered?: boolean;
  readonly held?: (handle: string) => boolean;
  /** Whether a handle makes the service reject the whole batch with a 400. */
  readonly refused?: (handle: string) => boolean;
  /** What happens to each batch, in order; further batches are served. */
  readonly fates?: readonly Fate[];
}

export const entryOf = (handle: string, wallet: string | null = 'W') => ({
  handle,
  wallet,
  evmWallet: null,
  updatedAt: null,
  windows: { '24h': null, '7d': null, '30d': null, all: null },
  extra: { of: handle },
});

/** A service with exact meters and a list of paid handles. */
export function pnlService(terms: ServiceTerms = {}) {
  const { perWallet = false, held = () => true, refused = () => false } = terms;
  const fates = [...(terms.fates ?? [])];
  const paid: string[] = [];
  const batches: number[] = [];
  const before = terms.before ?? 0;
  let [used, revealed, mes, late] = [0, 0, 0, 0];
  const slow: { readonly until: number; readonly price: number }[] = [];
  const left = () => (terms.units ?? Number.POSITIVE_INFINITY) - used;

  const me = () => ({
    ratePerMinute: 6_000,
    usage: {
      period: '2026-01',
      unitsUsed: before + used,
      unitsRemaining: terms.units === undefined ? null : left(),
      additionalUnits: 0,
      revealsUsed: revealed,
      revealsRemaining:
        terms.reveals === undefined || terms.reveals === null ? null : terms.reveals - revealed,
    },
    entitlement: { unmetered: terms.unmetered ?? false, monthlyUnits: terms.units ?? 0 },
  });

  const service = {
    paid,
    batches,
    get used() {
      return used;
    },
    get mes() {
      return mes;
    },
    /** Simulates another user who spends with the same key. */
    spend(units: number) {
      used += units;
    },
    reply(request: HttpRequest, now: number) {
      if (request.url.endsWith('/v2/me')) {
        mes++;
        while ((slow[0]?.until ?? Number.POSITIVE_INFINITY) <= now) used += slow.shift()?.price ?? 0;
        const answer = json(200, me());
        // A call that timed out may be charged after the usage was requested once.
        used += late;
        late = 0;
        return answer;
      }
      const single = /\/handle\/([^/]+)\/pnl$/.exec(request.url)?.[1];
      const asked: string[] = single === undefined ? JSON.parse(request.body ?? '').handles : [single];
      const handles = distinctHandles(asked).map(normalHandle);
      batches.push(handles.length);
      const fate = fates.shift() ?? 'serve';
      if (fate === 'reset') throw broken('h', undefined);
      if (fate === '500') return error(500, 'INTERNAL_ERROR');
      if (fate === '400' || handles.some(refused)) return error(400, 'VALIDATION_ERROR');
      const found = handles.filter(held);
      const price = cu.reveal * found.length + cu.miss * (handles.length - found.length);
      const reveals = perWallet ? found.length : Math.min(1, found.length);
      if (price > left()) return error(402, 'QUOTA_EXCEEDED');
      if (terms.reveals && revealed + reveals > terms.reveals) return error(402, 'REVEAL_LIMIT_REACHED');
      paid.push(...handles);
      revealed += reveals;
      if (fate === 'late') {
        late = price;
        throw broken('h', undefined);
      }
      if (fate === 'slow' || fate === 'gateway') {
        slow.push({ until: now + SLOW_MS, price });
        if (fate === 'slow') throw noAnswer('h', 2_000);
        return { status: 504, headers: { 'content-type': 'text/html' }, text: '<html></html>' };
      }
      used += price;
      if (fate === 'lost') throw broken('h', undefined);
      if (fate === 'shape') return json(200, { something: 'else' });
      const entries = found.map((handle) => entryOf(handle));
      if (single !== undefined) return entries[0] ? json(200, entries[0]) : error(404, 'NOT_OBSERVED');
      const missing = handles.filter((handle) => !held(handle));
      return json(200, { count: entries.length, missing, entries });
    },
  };
  return service;
}

export const handlesUpTo = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

/** Requests the numbers of handles from a service, and records what the run writes to its log. */
export async function runThrough(
  service: ReturnType<typeof pnlService>,
  subjects: readonly string[],
  {
    maxCu,
    retries = 2,
    afterBatch,
    signal,
    onNotice,
    handleAt,
    caches = false,
  }: {
    maxCu?: number;
    retries?: number;
    afterBatch?: () => void;
    signal?: AbortSignal;
    onNotice?: (notice: Notice) => void;
    handleAt?: (position: number) => string;
    /** Whether the log also contains each answer that is cached, and each claim that ends. */
    caches?: boolean;
  } = {},
) {
  const made = rig((request) => service.reply(request, made.clock.mono()), {
    retries,
    ...(maxCu === undefined ? {} : { maxCu }),
  });
  const notify = (notice: Notice) => {
    made.notices.push(notice);
    onNotice?.(notice);
  };
  const allowance = createAllowance(made.client, made.clock, maxCu, notify);
  const lines: string[] = [];
  const log: BatchLog = {
    asking: async (positions) => lines.push(`asking ${positions.length}`) - 1,
    answered: async (_, rows) => void lines.push(`answered ${rows.length}`),
    dropped: async () => void lines.push('dropped'),
    found: async (rows) => void lines.push(`found ${rows.length}`),
    lost: async (_, most) => void lines.push(`lost ${most}`),
  };
  const cache: AnswerCache = {
    get: () => undefined,
    put: async (_, handle) => void lines.push(`cached ${handle}`),
    claim: async ({ subject }) => ({ by: 'us', end: async () => void lines.push(`released ${subject}`) }),
  };
  const todo = subjects.map((_, at) => at);
  const run = createPnlRun({
    client: made.client,
    clock: made.clock,
    allowance,
    targets: {
      texts: subjects,
      isMixed: handleAt !== undefined,
      handleAt: handleAt ?? ((position) => subjects[position]),
    },
    todo,
    log,
    signal,
    saved: caches ? createSavedNumbers(cache, made.clock.now) : undefined,
  });
  const records: PnlRecord[] = [];
  let failure: unknown;
  try {
    for await (const results of run.results()) {
      records.push(...results.map(({ record }) => record));
      afterBatch?.();
    }
  } catch (thrown) {
    failure = thrown;
  }
  return { records, failure: failure as Failure | undefined, run, lines, ...made };
}
