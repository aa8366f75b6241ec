import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import type { EndpointId } from '../../src/contract/endpoints.ts';
import type { RequestParts } from '../../src/contract/ports.ts';
import { createClient } from '../../src/core/client/client.ts';
import { createTransport } from '../../src/core/http/transport.ts';
import { createCachedLookup } from '../../src/core/lookup/cached-lookup.ts';
import { lookup } from '../../src/core/lookup/lookup.ts';
import { createResolver } from '../../src/core/lookup/resolve.ts';
import { resolveAll } from '../../src/core/lookup/resolve-all.ts';
import { thesisFeed } from '../../src/core/pages/feeds.ts';
import { walkPages } from '../../src/core/pages/walk.ts';
import { createSpendLimit } from '../../src/core/spend/limit.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { ledgerInMemory, ownWindows } from './fakes.ts';
import { virtualClock } from './virtual-clock.ts';

const seed = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};
const RATE = 1_000_000;

function connect(sandbox: Sandbox, key: string, maxCu?: number) {
  const transport = createTransport();
  const clock = virtualClock();
  const { ledger, entries } = ledgerInMemory(clock.now);
  const client = createClient({
    transport,
    baseUrl: sandbox.url,
    key,
    clock,
    windows: ownWindows(clock),
    retries: 2,
    limit: createSpendLimit({ limit: maxCu }),
    ledger,
  });
  return { client, clock, ledger: entries };
}

describe.each(['bare', 'wrapped'] as const)('against the service with %s answers', (envelope) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({
      envelope,
      ratePerMinute: RATE,
      burstPerSecond: RATE,
      traders: 60,
      theses: 300,
    });
  });
  afterAll(() => sandbox.close());

  it('lookups, resolves and walks return what the service has, and the ledger equals its usage counter', async () => {
    const { client, clock, ledger } = connect(sandbox, sandbox.key);
    const before = sandbox.meter().totalUnits;
    const { handles } = sandbox.world.users;
    const users = createCachedLookup({ client, clock });
    let index = 0;
    for await (const { record } of lookup(handles, { answer: users.answer })) {
      expect(record).toMatchObject({
        subject: handles[index],
        found: true,
        id: sandbox.world.users.byHandle(handles[index] ?? '')?.id,
      });
      index++;
    }
    expect(index).toBe(handles.length);
    const resolver = createResolver({ client, clock, users, waitMs: 0 });
    for await (const { record } of resolveAll(handles.slice(0, 5), resolver))
      expect(record.found).not.toBeNull();
    const ids = [];
    for await (const { id } of walkPages(thesisFeed(client), { clock })) ids.push(id);
    expect(new Set(ids).size).toBe(sandbox.world.theses.count);
    expect(sandbox.meter().totalUnits - before).toBe(client.spent.cu);
    expect(ledger.reduce((sum, { cu }) => sum + cu, 0)).toBe(client.spent.cu);
    await client.close();
  });

  it('the cost never exceeds the spending limit, whatever fails, and is known within bounds', async () => {
    const { handles } = sandbox.world.users;
    const wallets = handles.flatMap((handle) => sandbox.world.users.byHandle(handle)?.solanaAddress ?? []);
    const asks: ((n: number) => [EndpointId, object])[] = [
      (n) => ['user.handle', { params: { handle: handles[n % handles.length] ?? 'a' } }],
      (n) => ['user.handle', { params: { handle: `nobody${n}` } }],
      (n) => ['user.wallet', { params: { address: wallets[n % wallets.length] ?? 'a' } }],
      (n) => ['users.pnl', { body: { handles: [handles[n % handles.length], `nobody${n}`] } }],
      (n) => ['thesis.all', { query: { limit: 1 + (n % 100) } }],
      () => ['launchpad.callouts', {}],
      () => ['me', {}],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 400_000 }),
        fc.array(fc.tuple(fc.nat({ max: asks.length - 1 }), fc.nat({ max: 500 })), {
          minLength: 10,
          maxLength: 60,
        }),
        async (maxCu, calls) => {
          sandbox.faults.set('lost=5%,reset=5%,cut=5%,html=3%,shape=3%,500=5%,OVERLOADED=5%,502=5%');
          const key = sandbox.addKey({ ratePerMinute: RATE, plan: 'scale' });
          const { client, ledger } = connect(sandbox, key, maxCu);
          await Promise.all(
            calls.map(async ([kind, n]) => {
              const [id, ask] = asks[kind]?.(n) ?? ['me', {}];
              await client.call(id, ask as RequestParts<typeof id>).catch((error: unknown) => {
                if (!(error instanceof Failure)) throw error;
              });
            }),
          );
          await client.close();
          const { totalUnits } = sandbox.meter(key);
          const { cu, atMost } = client.spent;
          expect(totalUnits).toBeLessThanOrEqual(maxCu);
          expect(cu).toBeLessThanOrEqual(totalUnits);
          expect(totalUnits).toBeLessThanOrEqual(atMost);
          expect(atMost).toBeLessThanOrEqual(maxCu);
          expect(ledger.reduce((sum, entry) => sum + entry.cu + (entry.cuAtMost ?? 0), 0)).toBe(atMost);
        },
      ),
      { ...seed, numRuns: 25 },
    );
    sandbox.faults.set('');
  });
});
