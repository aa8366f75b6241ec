import { describe, expect, it } from 'vitest';
import { Pnl, windowNames } from '../../src/contract/records/pnl.ts';
import {
  ask,
  costOf,
  first,
  handlesWhere,
  holdsWallet,
  sandbox,
  statusAndCode,
  walletHolder,
  walletless,
} from './help.ts';

const batch = '/v2/user/handles/pnl';

describe('trading numbers', () => {
  it('have four windows, each null or complete, ranked by cash flow, with a return relative to purchases', async () => {
    const service = await sandbox();
    const handles = service.world.handles().slice(0, 60);
    const { body } = await ask(service, batch, { body: { handles } });
    expect(body.entries).toHaveLength(60);
    for (const entry of body.entries) {
      expect(() => Pnl.parse(entry)).not.toThrow();
      expect(Object.keys(entry.windows)).toEqual([...windowNames]);
    }
    for (const window of windowNames) {
      const rows: NonNullable<Pnl['windows']['all']>[] = body.entries.flatMap(
        (entry: Pnl) => entry.windows[window] ?? [],
      );
      for (const one of rows) {
        const paid = (one.volumeUsd - one.netUsd) / 2;
        if (one.returnPct === null) expect(paid).toBeCloseTo(0, 1);
        else expect(one.returnPct).toBeCloseTo((one.netUsd / paid) * 100, 0);
        // 1 is the highest; ties share a rank.
        for (const other of rows)
          expect(Math.sign(one.rank - other.rank)).toBe(Math.sign(other.netUsd - one.netUsd));
      }
    }
  });

  it('have a null wallet for a known trader without a verified one', async () => {
    const service = await sandbox();
    const { status, body } = await ask(service, `/v2/user/handle/${walletless(service)}/pnl`);
    expect([status, body.wallet, body.evmWallet]).toEqual([200, null, null]);
  });

  it('have null windows for a wallet without trades, alone and in a batch', async () => {
    const service = await sandbox();
    const name = first(
      handlesWhere(service, holdsWallet).filter(
        (each) => service.world.pnl(each)?.windows.all === null,
      ),
    );
    const { status, body } = await ask(service, `/v2/user/handle/${name}/pnl`);
    expect([status, body.wallet ?? body.evmWallet]).toEqual([200, expect.any(String)]);
    expect(body.windows).toEqual({ '24h': null, '7d': null, '30d': null, all: null });
    const many = await ask(service, batch, { body: { handles: [name, 'nobody_at_all'] } });
    expect(many.body).toEqual({ count: 1, missing: ['nobody_at_all'], entries: [body] });
  });

  it('have the bare X username', async () => {
    const service = await sandbox();
    const name = first(handlesWhere(service, (user) => user.twitter !== null));
    const { body } = await ask(service, `/v2/user/handle/${name}`);
    const numbers = await ask(service, `/v2/user/handle/${name}/pnl`);
    expect(body.twitter).toBe(`https://x.com/${numbers.body.twitter}`);
  });
});

describe('the batch', () => {
  it('returns the single records in order, and lists missing handles', async () => {
    const service = await sandbox();
    const [one = '', two = '', three = ''] = service.world.handles();
    const { body } = await ask(service, batch, {
      body: { handles: [three, '@Nobody_Here', one, 'NOBODY_there', two] },
    });
    expect(body.entries.map((entry: Pnl) => entry.handle)).toEqual([three, one, two]);
    expect([body.count, body.missing]).toEqual([3, ['nobody_here', 'nobody_there']]);
    expect((await ask(service, `/v2/user/handle/${one}/pnl`)).body).toEqual(body.entries[1]);
  });

  it('counts a repeated handle once, in any case and with or without @', async () => {
    const service = await sandbox();
    const name = walletHolder(service);
    const handles = [name, name.toUpperCase(), `@${name}`, 'gone', '@GONE'];
    const cost = await costOf(service, async () => {
      const { body } = await ask(service, batch, { body: { handles } });
      expect([body.count, body.entries.length, body.missing]).toEqual([1, 1, ['gone']]);
    });
    expect(cost).toEqual({ cu: 30_200, reveals: 1 });
  });

  it('is served completely or rejected completely with 402', async () => {
    const handlesOf = (service: Awaited<ReturnType<typeof sandbox>>) => [
      ...handlesWhere(service, holdsWallet).slice(0, 3),
      'gone',
    ];
    const short = await sandbox({ monthlyUnits: 90_199 });
    expect(await statusAndCode(short, batch, { body: { handles: handlesOf(short) } })).toBe(
      '402 QUOTA_EXCEEDED',
    );
    expect(short.meter().totalUnits).toBe(0);
    const enough = await sandbox({ monthlyUnits: 90_200 });
    expect(await statusAndCode(enough, batch, { body: { handles: handlesOf(enough) } })).toBe(
      '200',
    );
    expect(enough.meter().unitsRemaining).toBe(0);
  });

  it('counts one reveal per response, or optionally per entry', async () => {
    const names = (service: Awaited<ReturnType<typeof sandbox>>) =>
      handlesWhere(service, holdsWallet).slice(0, 3);
    const literal = await sandbox();
    await ask(literal, batch, { body: { handles: names(literal) } });
    expect(literal.meter().totalReveals).toBe(1);
    const strict = await sandbox({ batchReveals: 'entry' });
    await ask(strict, batch, { body: { handles: names(strict) } });
    expect(strict.meter().totalReveals).toBe(3);
  });

  it('accepts 100 handles, and succeeds when every one is missing', async () => {
    const service = await sandbox();
    const handles = Array.from({ length: 100 }, (_, at) => `nobody${at}`);
    const { status, body } = await ask(service, batch, { body: { handles } });
    expect([status, body]).toEqual([200, { count: 0, missing: handles, entries: [] }]);
    expect(service.meter().totalUnits).toBe(20_000);
  });
});
