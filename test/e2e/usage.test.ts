import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Home, openDesk, openHome, runInProcess, trdr, withSandbox } from './harness.ts';

const DAY = 86_400_000;

/** A ledger with entries of a given age in days. */
function withLedger(
  ...entries: readonly (Record<string, unknown> & { readonly age: number })[]
): Home {
  const home = openHome();
  const folder = join(home.state, 'ledger');
  mkdirSync(folder, { recursive: true });
  for (const { age, ...entry } of entries) {
    const time = Date.now() - age * DAY;
    const line = {
      time,
      command: 'whois',
      profile: 'default',
      endpoint: 'user.handle',
      status: 200,
      cu: 100,
      ...entry,
    };
    appendFileSync(
      join(folder, `${new Date(time).toISOString().slice(0, 10)}.ndjson`),
      `${JSON.stringify(line)}\n`,
    );
  }
  return home;
}

describe('trdr usage', () => {
  test('prints one record per group, most expensive first', async () => {
    const home = withLedger(
      { age: 0 },
      { age: 1, status: 404, cu: 200 },
      { age: 2, command: 'pnl', endpoint: 'user.pnl', cu: 30_000, profile: 'desk' },
      { age: 40, endpoint: 'user.id' },
    );
    expect((await home.run('usage')).records()).toEqual([
      { command: 'pnl', calls: 1, cu: 30_000 },
      { command: 'whois', calls: 3, cu: 400 },
    ]);
    expect((await home.run('usage --by endpoint --since 7d')).records()).toEqual([
      { endpoint: 'user.pnl', calls: 1, cu: 30_000 },
      { endpoint: 'user.handle', calls: 2, cu: 300 },
    ]);
    expect((await home.run('usage --by profile --json')).json()).toEqual([
      { profile: 'desk', calls: 1, cu: 30_000 },
      { profile: 'default', calls: 3, cu: 400 },
    ]);
    const profiles = { default: {}, desk: {}, new: {} };
    mkdirSync(home.config, { recursive: true });
    writeFileSync(
      join(home.config, 'config.json'),
      JSON.stringify({ version: 1, profile: 'default', profiles }),
    );
    const spent = async (profile: string) =>
      (await home.run(['usage', '--profile', profile])).records();
    expect(await spent('desk')).toEqual([{ command: 'pnl', calls: 1, cu: 30_000 }]);
    expect(await spent('default')).toEqual([{ command: 'whois', calls: 3, cu: 400 }]);
    expect(await spent('new')).toEqual([]);
  });

  test('prints days in order, in UTC', async () => {
    const home = withLedger({ age: 1 }, { age: 3, cu: 200 }, { age: 3, cu: 10 });
    const day = (age: number) => new Date(Date.now() - age * DAY).toISOString().slice(0, 10);
    expect((await home.run('usage --by day -o csv')).stdout.split('\n').slice(0, 3)).toEqual([
      'day,calls,cu,cuAtMost,reveals,revealsAtMost,unpriced',
      `${day(3)},2,210,,,,`,
      `${day(1)},1,100,,,,`,
    ]);
  });

  test('separates certain costs from possible ones', async () => {
    const home = withLedger({ age: 0 }, { age: 0, status: null, cu: 0, cuAtMost: 30_000 });
    expect((await home.run('usage')).records()).toEqual([
      { command: 'whois', calls: 2, cu: 100, cuAtMost: 30_100 },
    ]);
    const table = await home.run('usage --color never', { tty: true });
    expect(table.stdout).toMatch(/whois\s+2\s+100\s+30,100/);
  });

  test('is empty without paid calls', async () => {
    const { exitCode, stdout } = await runInProcess('usage --json');
    expect([exitCode, stdout]).toEqual([0, '[]\n']);
    expect(
      (await runInProcess('usage', { tty: true })).stderr +
        (await runInProcess('usage -o table')).stderr,
    ).toContain('no paid calls recorded');
  });

  test('agrees with the service about what this machine has spent', async () => {
    const { run } = await openDesk();
    await run('whois @mira @nobody-at-all');
    await run('api /v2/thesis -f limit=1');
    const { exitCode, stderr, json } = await run('usage --reconcile --json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(json()).toMatchObject({ ledgerCu: 500, serviceCu: 500, drift: 0, lostAtMost: 0 });
  });

  test('reports what was spent elsewhere', async () => {
    const [sandbox, here, elsewhere] = [await withSandbox(), openHome(), openHome()];
    await runInProcess('whois @mira', { sandbox, home: elsewhere });
    const { json, stderr } = await runInProcess('usage --reconcile --json', {
      sandbox,
      home: here,
    });
    expect(json()).toMatchObject({ ledgerCu: 0, serviceCu: 100, drift: 100 });
    expect(stderr).toContain(
      '100 CU more than this machine can have spent (0 CU): another machine',
    );
  });

  test('keeps the ledger of the embedded service separate', async () => {
    const home = openHome();
    await home.run('whois mira --sandbox');
    expect((await home.run('usage')).stdout).toBe('');
    expect((await home.run('usage --sandbox')).records()).toMatchObject([{ command: 'whois' }]);
  });

  test('reads a year of heavy use with bounded memory', async () => {
    const home = openHome();
    const folder = join(home.state, 'ledger');
    mkdirSync(folder, { recursive: true });
    const line =
      '{"time":1767225600000,"command":"whois","profile":"default","endpoint":"user.handle","status":200,"cu":100}\n';
    writeFileSync(join(folder, '2026-01-01.ndjson'), line.repeat(200_000));
    const { records } = await trdr('usage', {
      home,
      env: { NODE_OPTIONS: '--max-old-space-size=48' },
    });
    expect(records()).toEqual([{ command: 'whois', calls: 200_000, cu: 20_000_000 }]);
  });
});

describe('trdr cache', () => {
  test('counts and clears the answers of the current key', async () => {
    const { sandbox, home, run } = await openDesk();
    const other = { url: sandbox.url, key: sandbox.addKey({ plan: 'growth' }) };
    const asked = ['whois', '@mira', '@nobody-at-all'];
    await run(asked);
    await home.run(asked, { sandbox: other });
    const before = (await run('cache stats --json')).json();
    expect(before).toMatchObject({ people: 1, wallets: 2, peopleOldest: expect.any(Number) });

    const spent = sandbox.meter().totalUnits;
    expect((await run('cache clear')).exitCode).toBe(0);
    await run(asked);
    expect(sandbox.meter().totalUnits - spent).toBe(0);
    const refused = await run('cache clear --people');
    expect(refused.error()).toMatchObject({
      exit: 11,
      hint: 'pass --yes to forget people without asking',
    });
    expect((await run('cache clear --people --yes')).exitCode).toBe(0);
    expect((await run('cache stats --json')).json()).toMatchObject({
      entries: 0,
      bytes: 0,
      oldest: null,
      people: 0,
      wallets: 0,
    });
    const others = await home.run('cache stats --json', { sandbox: other });
    expect(others.json()).toMatchObject({ people: 1 });
    await run(asked);
    expect(sandbox.meter().totalUnits - spent).toBe(300);
  });

  test('clears the answers of every key with --all, without a key', async () => {
    const { home, run } = await openDesk();
    await run('whois @mira');
    const refused = await home.run('cache clear');
    expect(refused.error()).toMatchObject({ exit: 2, hint: expect.stringContaining('--all') });
    expect((await home.run('cache clear --all')).exitCode).toBe(0);
    expect((await run('cache stats --json')).json()).toMatchObject({
      entries: 0,
    });
  });
});
