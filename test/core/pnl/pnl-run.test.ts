import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Failure } from '../../../src/base/failure.ts';
import { cu } from '../../../src/contract/limits.ts';
import type { AnswerCache, Claim } from '../../../src/contract/ports/answers.ts';
import type { HttpRequest } from '../../../src/contract/ports/transport.ts';
import type { PnlRecord } from '../../../src/contract/records/subject.ts';
import { broken, noAnswer } from '../../../src/core/http/network-failures.ts';
import { failedRecord } from '../../../src/core/lookup/lookup.ts';
import { Allowance } from '../../../src/core/pnl/allowance.ts';
import { SavedNumbers } from '../../../src/core/pnl/cached-numbers.ts';
import { PnlRun } from '../../../src/core/pnl/pnl-run.ts';
import { MemoryRows } from '../../../src/core/rows/memory-rows.ts';
import { numbers } from '../../e2e/records.ts';
import { repeats } from '../../repeats.ts';
import { error, json, rig } from '../fakes.ts';
import { handlesOf, subjectsUpTo } from './subjects.ts';

/**
 * What happens to a batch: it is served; the connection breaks before or after processing; it times out
 * during processing (at the client or at a gateway); it is rejected; or its response cannot be read.
 */
type Fate = 'serve' | 'reset' | 'lost' | 'late' | 'slow' | 'gateway' | 'shape' | '500' | '400';

/** How long slow processing takes. */
const SLOW_MS = 20_000;
/** The units that were used before the run. */
const BEFORE = 500;

interface ServiceTerms {
  readonly units?: number | undefined;
  readonly reveals?: number | undefined;
  /** Whether each wallet of a batch counts as a reveal, or the whole batch as one. */
  readonly perWallet?: boolean;
  readonly held?: (handle: string) => boolean;
  /** Whether a handle makes the service reject the whole batch with a 400. */
  readonly refused?: (handle: string) => boolean;
  /** What happens to each batch, in order; further batches are served. */
  readonly fates?: readonly Fate[];
}

/** A service with exact meters and a list of paid handles. */
function pnlService(terms: ServiceTerms = {}) {
  const { units, reveals, perWallet, held = () => true, refused } = terms;
  const fates = [...(terms.fates ?? [])];
  const paid: string[] = [];
  const batches: number[] = [];
  const meter = { used: 0, revealed: 0, mes: 0 };
  let late = 0;
  const slow: { readonly until: number; readonly price: number }[] = [];
  const leftOf = (most: number | undefined, used: number) =>
    most === undefined ? null : most - used;

  const me = () => ({
    ratePerMinute: 6_000,
    usage: {
      ...{ period: '2026-01', unitsUsed: BEFORE + meter.used, additionalUnits: 0 },
      unitsRemaining: leftOf(units, meter.used),
      revealsUsed: meter.revealed,
      revealsRemaining: leftOf(reveals, meter.revealed),
    },
    entitlement: { unmetered: false, monthlyUnits: units ?? 0 },
  });

  return {
    ...{ paid, batches, meter },
    /** Simulates another user who spends with the same key. */
    spend(units: number) {
      meter.used += units;
    },
    reply(request: HttpRequest, now: number) {
      if (request.url.endsWith('/v2/me')) {
        meter.mes++;
        while ((slow[0]?.until ?? Number.POSITIVE_INFINITY) <= now)
          meter.used += slow.shift()?.price ?? 0;
        const answer = json(200, me());
        // A call that timed out may be charged after the usage was requested once.
        meter.used += late;
        late = 0;
        return answer;
      }
      const single = /\/handle\/([^/]+)\/pnl$/.exec(request.url)?.[1];
      const handles: string[] =
        single === undefined ? JSON.parse(request.body ?? '').handles : [single];
      batches.push(handles.length);
      const fate = fates.shift() ?? 'serve';
      if (fate === 'reset') throw broken('h', undefined);
      if (fate === '500') return error(500, 'INTERNAL_ERROR');
      if (fate === '400' || (refused && handles.some(refused)))
        return error(400, 'VALIDATION_ERROR');
      const found = handles.filter(held);
      const missing = handles.filter((handle) => !held(handle));
      const price = cu.reveal * found.length + cu.miss * missing.length;
      const shown = perWallet ? found.length : Math.min(1, found.length);
      if (units !== undefined && price > units - meter.used) return error(402, 'QUOTA_EXCEEDED');
      if (reveals && meter.revealed + shown > reveals) return error(402, 'REVEAL_LIMIT_REACHED');
      paid.push(...handles);
      meter.revealed += shown;
      if (fate === 'late') {
        late = price;
        throw broken('h', undefined);
      }
      if (fate === 'slow' || fate === 'gateway') {
        slow.push({ until: now + SLOW_MS, price });
        if (fate === 'slow') throw noAnswer('h', 2_000);
        return { status: 504, headers: { 'content-type': 'text/html' }, text: '<html></html>' };
      }
      meter.used += price;
      if (fate === 'lost') throw broken('h', undefined);
      if (fate === 'shape') return json(200, { something: 'else' });
      const entries = found.map(numbers);
      if (single !== undefined)
        return entries[0] ? json(200, entries[0]) : error(404, 'NOT_OBSERVED');
      return json(200, { count: entries.length, missing, entries });
    },
  };
}

const handlesUpTo = (count: number) => Array.from({ length: count }, (_, at) => `t${at}`);

/** Rows that note what is written down. */
class NotedRows extends MemoryRows<PnlRecord> {
  readonly lines: string[] = [];

  override asking(rows: readonly number[]): number {
    this.lines.push(`asking ${rows.length}`);
    return super.asking(rows);
  }

  override answered(...[batch, values]: Parameters<MemoryRows<PnlRecord>['answered']>): void {
    if (values.length > 0) this.lines.push(`answered ${values.length}`);
    super.answered(batch, values);
  }

  override lost(batch: number, cuAtMost?: number): void {
    this.lines.push(`lost ${cuAtMost}`);
    super.lost(batch);
  }
}

interface Asked {
  readonly maxCu?: number;
  readonly afterBatch?: () => void;
  /** To how many handles the subjects lead; default: each to its own. */
  readonly handles?: number;
  /** What the store knows of a handle. */
  readonly claim?: (handle: string) => Claim;
}

/** Requests the numbers of so many handles, and records what the run writes to its log. */
async function runThrough(
  service: ReturnType<typeof pnlService>,
  count: number,
  { maxCu, afterBatch, handles, claim }: Asked = {},
) {
  const made = rig((request) => service.reply(request, made.clock.mono()), {
    ...{ retries: 2, ...(maxCu !== undefined && { maxCu }) },
  });
  const { client, clock } = made;
  const allowance = new Allowance(client, clock, { maxCu }, (notice) => made.notices.push(notice));
  const subjects = subjectsUpTo(count);
  const handleOf = (row: number) => subjects[row % (handles ?? count)]?.value;
  const rows = new NotedRows(count);
  const cache: AnswerCache = {
    get: (_, names) => names.map(() => undefined),
    put: async () => {},
    ...(claim && { claim: async ({ subject }) => claim(subject) }),
  };
  const saved = claim && new SavedNumbers(cache, clock.now, 600_000);
  const own = handlesOf(subjects, handleOf);
  const run = new PnlRun({ client, clock, allowance, handles: own, rows, saved });
  let failure: unknown;
  try {
    while (await run.step()) afterBatch?.();
  } catch (thrown) {
    failure = thrown;
  }
  const records = subjects.flatMap(({ text }, row) => {
    const failed = run.failures.get(row);
    return rows.read(row) ?? (failed ? failedRecord(text, failed) : []);
  });
  return { records, failure: failure as Failure | undefined, run, lines: rows.lines, ...made };
}

const subjectsOf = (records: readonly { readonly subject: string }[]) =>
  records.map(({ subject }) => subject);

test('a handle is paid for once, even if its subjects would be in different batches', async () => {
  const service = pnlService();
  const { records, run } = await runThrough(service, 250, { handles: 120 });
  expect([service.batches, run.left]).toEqual([[100, 20], []]);
  expect(subjectsOf(records).sort()).toEqual(handlesUpTo(250).sort());
  expect(records.find(({ subject }) => subject === 't249')).toMatchObject({ handle: 't9' });
});

describe('what another machine requests', () => {
  test('is taken over although nothing is left to spend, and asks for no usage meanwhile', async () => {
    const service = pnlService({ units: 0 });
    let looks = 0;
    const claim = (handle: string): Claim => {
      if (handle === 't3' || handle === 't4') return { by: 'us', end: async () => {} };
      if (++looks <= 6) return { by: 'other' };
      const record = numbers(handle);
      return { by: 'cache', answer: { time: 0, status: 200, record } };
    };
    const all = await runThrough(service, 3, { claim });
    expect([all.failure, subjectsOf(all.records)]).toEqual([undefined, ['t0', 't1', 't2']]);
    expect([service.batches, service.meter.mes]).toEqual([[], 0]);
    const some = await runThrough(service, 5, { claim });
    expect(subjectsOf(some.records)).toEqual(['t0', 't1', 't2']);
    expect([some.failure?.code, some.run.left]).toEqual(['QUOTA_EXCEEDED', [3, 4]]);
  });
});

describe('a key with which others spend', () => {
  test('has its usage requested before each batch', async () => {
    const service = pnlService({ units: 1e9 });
    await runThrough(service, 1_000, { afterBatch: () => service.spend(100) });
    expect(service.meter.mes).toBe(10);
  });

  test('has its usage requested again after a rejection, and pays with the remaining units', async () => {
    const service = pnlService({ units: 250 * cu.reveal });
    let batches = 0;
    const { records, failure } = await runThrough(service, 250, {
      afterBatch: () => ++batches === 2 && service.spend(20 * cu.reveal),
    });
    expect(records).toHaveLength(230);
    expect(failure).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });
});

describe('an answer that was lost', () => {
  test('is requested again if the usage has not changed, and its maximum cost stays in limit and ledger', async () => {
    const service = pnlService({ fates: ['reset'] });
    const lost = 20 * cu.reveal;
    const { records, failure, lines, ledger, client } = await runThrough(service, 20);
    expect(failure).toBeUndefined();
    expect(records.every(({ found }) => found)).toBe(true);
    expect(lines).toEqual(['asking 20', `lost ${lost}`, 'asking 20', 'answered 20']);
    expect(ledger.map((entry) => [entry.cu, entry.cuAtMost])).toEqual([
      [0, lost],
      [lost, undefined],
    ]);
    expect(client.spent).toMatchObject({ cu: lost, atMost: 2 * lost });
  });

  test('does not replace a handle that was never requested', async () => {
    const service = pnlService({ fates: ['reset'] });
    const { records, run } = await runThrough(service, 200, { maxCu: 250 * cu.reveal });
    expect([service.batches, run.lost.length]).toEqual([[100, 100], 1]);
    expect(records.filter(({ found }) => found)).toHaveLength(100);
  });

  test.each(['slow', 'gateway'] as const)(
    'is not paid for again if the service was still processing it at the timeout (%s)',
    async (fate) => {
      const service = pnlService({ fates: [fate] });
      const { run, notices } = await runThrough(service, 10);
      expect(run.lost).toHaveLength(1);
      expect([service.batches, new Set(service.paid).size]).toEqual([[10], service.paid.length]);
      expect(notices).toContainEqual(expect.objectContaining({ kind: 'wait', ms: 30_000 }));
    },
  );

  test('ends the run when it happens twice in a row, because the connection is unreliable', async () => {
    const service = pnlService({ fates: ['lost', 'lost', 'lost'] });
    const { failure, run } = await runThrough(service, 1_000);
    expect(failure).toMatchObject({ kind: 'network', code: 'BROKEN' });
    expect([service.batches.length, run.left.length]).toEqual([2, 800]);
  });

  test('ends the run at once if the answer was received and cannot be read', async () => {
    const service = pnlService({ fates: ['shape'] });
    const { failure, run } = await runThrough(service, 1_000);
    expect(failure).toMatchObject({ kind: 'answer', code: 'BAD_ANSWER' });
    expect([service.batches.length, run.lost.length]).toEqual([1, 1]);
  });
});

describe('a rejected batch', () => {
  test('is split until the handle that caused it is alone', async () => {
    const service = pnlService({ refused: (handle) => handle === 't42' });
    const { records, failure } = await runThrough(service, 150);
    expect(failure).toBeUndefined();
    expect(subjectsOf(records)).toEqual(handlesUpTo(150));
    expect(records.filter(({ found }) => found !== true)).toMatchObject([
      { subject: 't42', found: null, error: { code: 'VALIDATION_ERROR', status: 400 } },
    ]);
    expect(service.paid).toHaveLength(149);
  });

  test('ends the run if handle after handle is rejected', async () => {
    const service = pnlService({ refused: () => true });
    const { failure, run } = await runThrough(service, 500);
    expect(failure).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(run.left).toHaveLength(480);
  });
});

test('whatever happens, no handle is paid for twice and none is lost', async () => {
  const fates = 'serve serve serve reset lost late slow gateway 500 400 shape'.split(' ') as Fate[];
  const fate = fc.constantFrom(...fates);
  const parameters = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};
  await fc.assert(
    fc.asyncProperty(
      fc.array(fate, { maxLength: 12 }),
      fc.integer({ min: 2, max: 450 }),
      fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
      fc.option(fc.integer({ min: 0, max: 500 }), { nil: undefined }),
      fc.boolean(),
      async (fates, count, handles, reveals, perWallet) => {
        const service = pnlService({
          ...{ fates, perWallet, reveals },
          units: handles && handles * cu.reveal + 7,
          held: (handle) => Number(handle.slice(1)) % 5 > 0,
        });
        const { records, run, failure, client } = await runThrough(service, count);
        expect(new Set(service.paid).size).toBe(service.paid.length);
        expect(records.length + run.left.length).toBe(count);
        expect(subjectsOf(records)).toEqual(handlesUpTo(count).slice(0, records.length));
        if (!failure) expect(records).toHaveLength(count);
        // What was charged is between the certain and the maximum cost that the client reports.
        expect(client.spent.cu).toBeLessThanOrEqual(service.meter.used);
        expect(client.spent.atMost).toBeGreaterThanOrEqual(service.meter.used);
      },
    ),
    { numRuns: repeats('FUZZ_RUNS', 15, 2_000), ...parameters },
  );
});
