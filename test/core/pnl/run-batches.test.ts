import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cu } from '../../../src/contract/prices.ts';
import { type Fate, handlesUpTo, pnlService, runThrough } from '../pnl-service.ts';

const FULL = 100 * cu.reveal;
const subjectsOf = (records: readonly { readonly subject: string }[]) =>
  records.map(({ subject }) => subject);

describe('a run through many handles', () => {
  test('logs each request before it is sent, and its answer before the next one', async () => {
    const { lines } = await runThrough(pnlService(), handlesUpTo(150));
    expect(lines).toEqual(['asking 100', 'answered 100', 'asking 50', 'answered 50']);
  });

  test('caches an answer after it was logged, and lets other machines continue after that', async () => {
    for (const handles of [['t0'], ['t0', 't1']]) {
      const { lines } = await runThrough(pnlService(), handles, { caches: true });
      expect(lines).toEqual([
        `asking ${handles.length}`,
        `answered ${handles.length}`,
        ...handles.map((handle) => `cached ${handle}`),
        ...handles.map((handle) => `released ${handle}`),
      ]);
    }
  });

  test('releases the handles of a lost answer', async () => {
    const { lines } = await runThrough(pnlService({ fates: ['lost', 'lost'] }), ['t0', 't1'], {
      caches: true,
    });
    expect(lines.filter((line) => line.startsWith('released'))).toEqual(['released t0', 'released t1']);
  });

  test('requests a handle once, even if its subjects would be in different batches', async () => {
    const service = pnlService();
    const subjects = handlesUpTo(250).map((handle) => `wallet of ${handle}`);
    const { records, run } = await runThrough(service, subjects, { handleAt: (at) => `T${at % 120}` });
    expect(service.batches).toEqual([100, 20]);
    expect(records.map(({ subject }) => subject).sort()).toEqual([...subjects].sort());
    expect(records.find(({ subject }) => subject === 'wallet of t249')).toMatchObject({ handle: 't9' });
    expect(run.left()).toEqual([]);
  });

  test('requests the usage before each batch if others spend with the same key', async () => {
    const service = pnlService({ units: 1e9 });
    await runThrough(service, handlesUpTo(1_000), { afterBatch: () => service.spend(100) });
    expect(service.mes).toBe(10);
  });
});

describe('an exhausted allowance', () => {
  test('requests the usage again after a rejection, and continues with the remaining units', async () => {
    const service = pnlService({ units: 250 * cu.reveal });
    let batches = 0;
    const { records, failure } = await runThrough(service, handlesUpTo(250), {
      afterBatch: () => ++batches === 2 && service.spend(20 * cu.reveal),
    });
    expect(records).toHaveLength(230);
    expect(failure).toMatchObject({ code: 'QUOTA_EXCEEDED' });
  });
});

describe('an answer that was lost', () => {
  test('is requested again if the usage has not changed, and its maximum cost stays in limit and ledger', async () => {
    const service = pnlService({ fates: ['reset'], before: 500 });
    const lost = 20 * cu.reveal;
    const { records, failure, lines, ledger, client } = await runThrough(service, handlesUpTo(20));
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
    const service = pnlService({ fates: ['reset'], before: 500 });
    const { records, run } = await runThrough(service, handlesUpTo(200), { maxCu: 250 * cu.reveal });
    expect([service.batches, run.lost.length]).toEqual([[100, 100], 1]);
    expect(records.filter(({ found }) => found)).toHaveLength(100);
  });

  test.each(['slow', 'gateway'] as const)(
    'is not paid for again if the service was still processing it at the timeout (%s)',
    async (fate) => {
      const service = pnlService({ fates: [fate], before: 500 });
      const { run, notices } = await runThrough(service, handlesUpTo(10));
      expect(run.lost).toHaveLength(1);
      expect([service.batches, new Set(service.paid).size]).toEqual([[10], service.paid.length]);
      expect(notices).toContainEqual(expect.objectContaining({ kind: 'wait', ms: 30_000 }));
    },
  );

  test('is not awaited when the run is aborted, because it may have been charged', async () => {
    const stop = new AbortController();
    const service = pnlService({ fates: ['slow'], before: 500 });
    const { records, failure, run, lines, ledger, clock } = await runThrough(service, handlesUpTo(200), {
      signal: stop.signal,
      onNotice: (notice) => notice.kind === 'wait' && stop.abort(new Error('called off')),
    });
    expect(failure).toMatchObject({ message: 'called off' });
    expect([records.length, run.left().length, run.lost.length]).toEqual([100, 100, 1]);
    expect(lines.at(-1)).toBe(`lost ${FULL}`);
    expect(ledger.at(-1)).toMatchObject({ cu: 0, cuAtMost: FULL });
    expect(clock.mono()).toBe(0);
  });

  test('ends the run when it happens twice in a row, because the connection is unreliable', async () => {
    const service = pnlService({ fates: ['lost', 'lost', 'lost'] });
    const { failure, run } = await runThrough(service, handlesUpTo(1_000));
    expect(failure).toMatchObject({ kind: 'network', code: 'BROKEN' });
    expect([service.batches.length, run.left().length]).toEqual([2, 800]);
  });

  test('ends the run at once if the answer was received and cannot be read', async () => {
    const service = pnlService({ fates: ['shape'] });
    const { failure, run } = await runThrough(service, handlesUpTo(1_000));
    expect(failure).toMatchObject({ kind: 'answer', code: 'BAD_ANSWER' });
    expect([service.batches.length, run.lost.length]).toEqual([1, 1]);
  });
});

describe('a rejected batch', () => {
  test('is split until the handle that caused it is alone', async () => {
    const service = pnlService({ refused: (handle) => handle === 't42' });
    const { records, failure } = await runThrough(service, handlesUpTo(150));
    expect(failure).toBeUndefined();
    expect(subjectsOf(records)).toEqual(handlesUpTo(150));
    expect(records.filter(({ found }) => found !== true)).toMatchObject([
      { subject: 't42', found: null, error: { code: 'VALIDATION_ERROR', status: 400 } },
    ]);
    expect(service.paid).toHaveLength(149);
  });

  test('ends the run if handle after handle is rejected', async () => {
    const service = pnlService({ refused: () => true });
    const { failure, run } = await runThrough(service, handlesUpTo(500));
    expect(failure).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(run.left()).toHaveLength(480);
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
          before: 500,
          fates,
          perWallet,
          ...(handles === undefined ? {} : { units: handles * cu.reveal + 7 }),
          ...(reveals === undefined ? {} : { reveals }),
          held: (handle) => Number(handle.slice(1)) % 5 > 0,
        });
        const { records, run, failure, client } = await runThrough(service, handlesUpTo(count));
        expect(new Set(service.paid).size).toBe(service.paid.length);
        expect(records.length + run.left().length).toBe(count);
        expect(subjectsOf(records)).toEqual(handlesUpTo(count).slice(0, records.length));
        if (!failure) expect(records).toHaveLength(count);
        // What was charged is between the certain and the maximum cost that the client reports.
        expect(client.spent.cu).toBeLessThanOrEqual(service.used);
        expect(client.spent.atMost).toBeGreaterThanOrEqual(service.used);
      },
    ),
    { numRuns: 60, ...parameters },
  );
});
