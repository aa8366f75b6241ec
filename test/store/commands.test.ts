import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { periodsAt } from '../../src/base/periods.ts';
import { readStoreUrl } from '../../src/store/address.ts';
import { examine } from '../../src/store/check.ts';
import { findKeys, removeKeys } from '../../src/store/clear.ts';
import { connectStore, type StoreConnection } from '../../src/store/connection.ts';
import { keysOf } from '../../src/store/keys.ts';
import { startPosting, until } from '../e2e/feed.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { startInProcess } from '../e2e/in-process.ts';
import { some } from '../repeats.ts';
import { readSamples } from '../status-file.ts';
import { has } from '../tools.ts';
import { machine, scope } from './machines.ts';
import { startServer } from './server.ts';

/** The arguments that redis-cli gets from the command documented in docs/store.md, run by a shell as it is written. */
function documentedAcl(user: string, password: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/store.md'), 'utf8');
  const [, command = ''] =
    /^( *redis-cli ACL SETUSER desk [\s\S]*?)\n *redis-cli CONFIG/m.exec(page) ?? [];
  const given = command.replace(' desk ', ` ${user} `).replace('>PASSWORD', `>${password}`);
  const printing = `redis() { shift; printf '%s\\n' "$@"; }\n${given.replace('redis-cli', 'redis')}`;
  return execFileSync('/bin/sh', ['-c', printing], { encoding: 'utf8' }).trim().split('\n');
}

const verdicts = (records: readonly Record<string, unknown>[]) =>
  Object.fromEntries(records.map(({ check, verdict }) => [check, verdict]));

describe.skipIf(!has('redis-server'))('the store commands', () => {
  it('save a store with its password, which is never shown', async () => {
    const server = await startServer({ conf: ['--requirepass', 'hunter2'] });
    const home = openHome();
    const wrong = await home.run(['store', 'login', server.url, '--with-password'], {
      stdin: 'hunter3\n',
    });
    expect([wrong.exitCode, wrong.error()['code']]).toEqual([9, 'STORE_DENIED']);
    const unread = await home.run(['store', 'login', server.url], { stdin: 'hunter2\n' });
    expect(unread.error()).toMatchObject({
      code: 'STORE_DENIED',
      hint: expect.stringContaining('--with-password'),
    });
    const inUrl = await home.run(['store', 'login', 'redis://desk:hunter2@127.0.0.1']);
    expect([inUrl.exitCode, inUrl.error()['message']]).toEqual([
      2,
      'invalid store URL: it contains a password',
    ]);
    expect(inUrl.stderr).not.toContain('hunter2');
    const login = await home.run(['store', 'login', server.url, '--with-password'], {
      stdin: 'hunter2\n',
    });
    expect(login.exitCode).toBe(0);
    expect(statSync(join(home.config, 'config.json')).mode & 0o777).toBe(0o600);
    const sandbox = await withSandbox();
    const runs = [
      await home.run(['config', 'list']),
      await home.run(['store', 'check', '--debug'], { sandbox }),
      await home.run(['doctor', '--debug'], { sandbox }),
    ];
    for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toContain('hunter');
    expect(verdicts(runs[1]?.records() ?? [])).toMatchObject({
      reach: 'ok',
      rights: 'ok',
      persistence: 'ok',
    });
    expect(verdicts(runs[2]?.records() ?? [])).toMatchObject({ store: 'ok' });
    const printing = (line: string) =>
      runInProcess(['store', 'check'], {
        ...{ sandbox, env: { TRDR_STORE: server.url, TRDR_STORE_PASSWORD_COMMAND: line } },
      });
    expect(verdicts((await printing('echo hunter2')).records())).toMatchObject({ reach: 'ok' });
    const failed = await printing('echo locked >&2; exit 1');
    expect([failed.exitCode, failed.error()['message']]).toEqual([
      4,
      expect.stringContaining('locked'),
    ]);
    const elsewhere = await startServer({ conf: ['--requirepass', 'hunter2'] });
    const moved = await home.run(['store', 'check'], {
      sandbox,
      env: { TRDR_STORE: elsewhere.url },
    });
    expect(moved.records()).toMatchObject([{ check: 'reach', verdict: 'fail' }]);
  });

  it('need no other permissions over TLS, also for relays, followers, groups and budgets', async () => {
    const server = await startServer({ tls: true });
    const ca = join(server.folder, 'server.crt');
    const admin = await server.connect({ ca: readFileSync(ca, 'utf8') });
    await admin.send('ACL', documentedAcl('desk', 'hunter2'));
    const sandbox = await withSandbox({ unmetered: true, theses: 60 });
    const home = openHome();
    const env = {
      TRDR_STORE: server.url.replace('//', '//desk@'),
      TRDR_STORE_PASSWORD: 'hunter2',
      TRDR_STORE_CA: ca,
    };
    const options = { sandbox, home, env };
    expect(verdicts((await runInProcess(['store', 'check'], options)).records())).toMatchObject({
      rights: 'ok',
    });
    const relay = startInProcess(
      ['thesis', 'relay', '--via', 'poll', '--lag', '200ms', '--yes'],
      options,
    );
    const admitted = keysOf({ baseUrl: sandbox.url, key: sandbox.key }).feed('thesis');
    await until(async () => (await admin.send('EXISTS', [admitted.mark])) === 1);
    await until(
      async () => String(await admin.send('HGET', [admitted.info, 'mode'])) === 'polling',
    );
    startPosting(sandbox, 50);
    for (const args of [
      ['whois', 'mira'],
      ['resolve', 'mira', '--direct'],
      // From now on, the relay pays within the budget.
      ['budget', 'set', 'month', '15M'],
      ['budget', 'show'],
      ['thesis', 'tail', '--via', 'store', '--count', '2', '--status', 'all.prom'],
      ['thesis', 'tail', '--via', 'store', '--count', '2', '--rotate', '1d', '--out', 'a.ndjson'],
      ['usage', '--store'],
      ['store', 'status'],
      ['budget', 'unset', 'month'],
      ['store', 'clear', 'cache', '--yes'],
    ]) {
      const ran = await runInProcess(args, options);
      expect([args, ran.exitCode, ran.stderr.match(/has no permission for.*/)], ran.stderr).toEqual(
        [args, 0, null],
      );
      if (args[1] === 'status') {
        const feed = ran.records().find(({ item }) => item === 'feed');
        expect(feed).toMatchObject({ leader: expect.any(String) });
        expect(feed?.['lastPostAgo']).toSatisfy((ms) => ms >= 0 && ms < 60_000);
      }
    }
    const status = readSamples(join(home.path, 'all.prom'));
    expect(status).toMatchObject({ up: 0, mode: 'store', spent_units_total: 0 });
    expect(status['rows_total']).toBeGreaterThanOrEqual(2);
    relay.kill('SIGTERM');
    expect((await relay.ended).exitCode).toBe(143);
    expect(await admin.send('ACL', ['LOG'])).toEqual([]);
  });

  it('list the problems of an unsuitable store', async () => {
    const conf = ['--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru', '--appendonly', 'no'];
    const server = await startServer({ conf });
    const sandbox = await withSandbox();
    const check = await runInProcess(['store', 'check'], {
      sandbox,
      env: { TRDR_STORE: server.url },
    });
    expect(check.exitCode).toBe(9);
    expect(verdicts(check.records())).toMatchObject({ eviction: 'fail', persistence: 'warn' });
    const full = await startServer({ conf: ['--maxmemory', '1'] });
    const refused = await runInProcess(['store', 'check'], {
      sandbox,
      env: { TRDR_STORE: full.url },
    });
    expect(verdicts(refused.records())).toMatchObject({
      reach: 'ok',
      writes: 'fail',
      memory: 'warn',
    });
    expect(refused.stdout).toContain('has no memory left (OOM)');
    await full.stop();
    const away = await runInProcess(['store', 'check'], { sandbox, env: { TRDR_STORE: full.url } });
    expect(away.records()).toMatchObject([
      { next: expect.stringContaining('the server is running') },
    ]);
  });

  it('state how to fix the reason for a rejected connection', async () => {
    const server = await startServer();
    const admin = await server.connect();
    const user = async (name: string, ...rules: readonly string[]) => {
      await admin.send('ACL', ['SETUSER', name, 'on', '>p', 'resetchannels', ...rules]);
      return connectStore({ ...readStoreUrl(server.url), username: name }, { password: 'p' });
    };
    const findings = async (store: StoreConnection) => {
      const keys = keysOf({ baseUrl: 'https://api.example.test', key: 'k' });
      const found = [];
      try {
        for await (const one of examine(store, keys, 'few', { now: Date.now, mono: () => 0 }))
          found.push(one);
      } finally {
        store.close();
      }
      return found;
    };
    const of = (check: string, found: Awaited<ReturnType<typeof findings>>) =>
      found.find((one) => one.check === check);
    const few = await findings(await user('few', '~trdr:*', '+@all', '-xdel', '-xadd'));
    expect(of('rights', few)?.next).toBe("run: redis-cli ACL SETUSER few '+xdel' '+xadd'");
    // A missing permission is named by the check, or by the failure if no connection is possible.
    const rights = documentedAcl('x', 'p').filter(
      (one) => one.startsWith('+') && !['+select', '+client|setname'].includes(one),
    );
    expect(rights.length).toBeGreaterThan(20);
    for (const right of some(rights, 6)) {
      const named = await user(
        'less',
        'reset',
        ...documentedAcl('less', 'p').slice(2),
        `-${right.slice(1)}`,
      )
        .then(findings)
        .then(
          (found) => of('rights', found)?.next,
          (error: unknown) => (error instanceof Failure ? error.hint : error),
        );
      expect(named).toContain(right);
    }
  });

  it('remove what another program has overwritten, and the failure says so', async () => {
    const server = await startServer();
    const admin = await server.connect();
    const keys = keysOf(scope);
    const { ledger, budgets } = machine(server);
    for (const key of [keys.caps, keys.calls, keys.open, keys.sum(periodsAt(Date.now()).day)]) {
      await budgets.set({ period: 'month', machine: undefined, cu: 1_000 });
      await (await ledger.begin({ endpoint: 'user.wallet', most: 300 })).settle({
        status: 200,
        cu: 100,
      });
      await admin.send('DEL', [key]);
      await admin.send('RPUSH', [key, 'hostile']);
      await expect(ledger.begin({ endpoint: 'user.wallet', most: 300 })).rejects.toMatchObject({
        code: 'STORE_UNFIT',
        message: expect.stringContaining('(WRONGTYPE)'),
      });
      await removeKeys(admin, keys, await findKeys(admin, keys, 'all'));
      expect(await admin.send('TYPE', [key])).not.toBe('list');
    }
  });

  it('show and remove what machines share', async () => {
    const server = await startServer();
    const sandbox = await withSandbox();
    const options = {
      sandbox,
      home: openHome(),
      env: { TRDR_STORE: server.url, TRDR_MACHINE: 'desk-1' },
    };
    await runInProcess(['whois', 'mira'], options);
    const status = await runInProcess(['store', 'status'], options);
    expect(status.records()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ item: 'machine', name: 'desk-1', state: 'calling' }),
        // The service has not been asked for it.
        expect.objectContaining({ item: 'lane', name: 'key', limit: null }),
      ]),
    );
    const metrics = await runInProcess(['store', 'status', '-o', 'metrics'], options);
    expect(metrics.stdout).toMatch(/^trdr_store_lane_calls\{lane="key"\} \d+$/m);
    expect(metrics.stdout).toMatch(/# EOF\n$/);
    const lag = await runInProcess(['store', 'status', '--max-lag', '60s'], options);
    expect(lag.exitCode).toBe(0);
    const unknown = await runInProcess(['store', 'clear', 'feed', 'thesys'], options);
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      0,
      'trdr: no feed "thesys" in the store; nothing to remove\n',
    ]);
    expect((await runInProcess(['store', 'clear', 'all'], options)).exitCode).toBe(11);
    expect((await runInProcess(['store', 'clear', 'all', '--yes'], options)).exitCode).toBe(0);
    const admin = await server.connect();
    expect(await admin.send('KEYS', ['trdr:1:*:answer:*'])).toEqual([]);
  });

  it('exit 9 if the store is unreachable, and 2 if no store is configured', async () => {
    const sandbox = await withSandbox();
    const away = { sandbox, env: { TRDR_STORE: 'redis://127.0.0.1:1' } };
    expect((await runInProcess(['store', 'status'], away)).error()).toMatchObject({
      code: 'STORE_AWAY',
      exit: 9,
    });
    const off = { sandbox, env: { TRDR_STORE: 'off' } };
    expect((await runInProcess(['store', 'status'], off)).error()).toMatchObject({
      code: 'NO_STORE',
      exit: 2,
    });
  });
});
