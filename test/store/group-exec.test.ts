import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { followGroup } from '../../src/store/feed/group.ts';
import type { GroupEvent, GroupOptions } from '../../src/store/feed/group-batches.ts';
import { keysOf } from '../../src/store/keys.ts';
import { idsOf, readText, startTail, until } from '../e2e/feed.ts';
import { openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { hasServer } from './program.ts';
import { type StoreServer, startServer } from './server.ts';
import { feed, leader, noMemory, posts } from './terms.ts';

/** A member with a command that the test controls: each batch waits until `finish` is called. */
function slowMember(server: StoreServer, given: Partial<GroupOptions>) {
  const over = new AbortController();
  const got: string[] = [];
  let finish = () => {};
  let lost: AbortSignal | undefined;
  const options: GroupOptions = {
    ...{ open: () => server.connect({ commandMs: 5_000 }), feed, name: 'g', shared: false, machine: 'm' },
    ...{ clock: systemClock, batch: 10, lingerMs: 0, start: '0', memory: noMemory, ...given },
  };
  const work = async (event: Extract<GroupEvent, { kind: 'batch' }>) => {
    got.push(...event.rows.map(({ id }) => id));
    lost = event.over;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    await event.ack();
  };
  const done = (async () => {
    for await (const event of followGroup(options, over.signal))
      if (event.kind === 'batch') await work(event);
  })();
  return {
    ...{ got, over, done },
    finish: () => finish(),
    lost: () => lost,
  };
}

describe.skipIf(!hasServer())('a group whose batches take long', () => {
  it('leaves a batch with its member for as long as the member lives', async () => {
    const server = await startServer();
    const term = await leader(server);
    const admin = await server.connect();
    const shared = { shared: true, batch: 1, abandonedMs: 200 } as const;
    const one = slowMember(server, shared);
    await term.publish(posts('a'));
    await until(() => one.got.length === 1);
    const two = slowMember(server, shared);
    const pending = async () => {
      const [entry] = [await admin.send('XPENDING', [feed.stream, 'g', '-', '+', 10])].flat();
      return Array.isArray(entry) ? Number(entry[3]) : 0;
    };
    // Each renewal counts as a delivery of the batch; four renewals fit in the time after which the batch
    // would be given to another member.
    await until(async () => (await pending()) > 12);
    expect(two.got).toEqual([]);
    one.finish();
    await until(async () => (await pending()) === 0);
    one.over.abort();
    two.over.abort();
    await Promise.all([one.done, two.done]);
  });

  it.each([true, false])('acknowledges a batch that ends after a signal (shared: %s)', async (shared) => {
    const server = await startServer();
    const term = await leader(server);
    const admin = await server.connect();
    const one = slowMember(server, { shared, leaseMs: 400 });
    await term.publish(posts('a', 'b'));
    await until(() => one.got.length === 2);
    one.over.abort();
    const lease = await admin.send('GET', [feed.group('g')]);
    // The lease is still renewed after the signal, until the batch is done.
    const renewed = async () => Number(await admin.send('PTTL', [feed.group('g')]));
    const first = shared ? 0 : await renewed();
    if (!shared) await until(async () => (await renewed()) > first);
    expect(await admin.send('GET', [feed.group('g')])).toBe(lease);
    expect(one.lost()?.aborted).toBe(false);
    one.finish();
    await one.done;
    expect(await admin.send('XPENDING', [feed.stream, 'g'])).toEqual([0, null, null, null]);
    expect(await admin.send('GET', [feed.group('g')])).toBe(null);
  });
});

describe.skipIf(!hasServer() || process.platform === 'win32')('--group with --exec', () => {
  it('acknowledges what the command accepted, and hands unacknowledged posts of a dead member to the next one', async () => {
    const server = await startServer();
    const sandbox = await withSandbox({ unmetered: true, ratePerMinute: 60_000 });
    const env = { TRDR_STORE: server.url };
    const home = openHome();
    const relay = startTrdr(['thesis', 'relay', '--via', 'poll', '--lag', '200ms', '--yes'], {
      sandbox,
      env,
    });
    /** A member of the group. Its command is `script`, which logs the posts that it accepts. */
    const member = (name: string, script: string) => {
      mkdirSync(join(home.path, name));
      const flags = [
        '--via',
        'store',
        '--group',
        'desk',
        '--since',
        '1h',
        '--batch',
        '2',
        '--linger',
        '50ms',
      ];
      const exec = ['--tries', '0', '--exec', script];
      return startTail([...flags, ...exec], {
        sandbox,
        env,
        home: { ...home, state: join(home.path, name) },
      });
    };
    const [log, stuck] = [join(home.path, 'log'), join(home.path, 'stuck')];
    const first = member(
      'one',
      `[ "$TRDR_BATCH" -le 2 ] && cat >> '${log}' || { cat > '${stuck}'; exit 1; }`,
    );
    const posted: string[] = [];
    const timer = setInterval(() => posted.push(sandbox.post().id), 30);
    await until(() => readText(stuck).endsWith('\n'));
    expect(first.stderr).toContain('as a member of group desk: 0 CU');
    const accepted = idsOf(readText(log));
    const second = member('two', `cat >> '${log}'`);
    await until(() => second.stderr.includes('standing by'));
    const left = idsOf(readText(stuck));
    first.child.kill('SIGKILL');
    await first.child;
    // Remove the lease of the dead member instead of waiting ten seconds until it expires.
    const admin = await server.connect();
    const keys = keysOf({ baseUrl: sandbox.url, key: sandbox.key });
    expect(await admin.send('DEL', [keys.feed('thesis').group('desk')])).toBe(1);
    admin.close();
    await until(() => idsOf(readText(log)).length > accepted.length + 10);
    clearInterval(timer);
    second.child.kill('SIGTERM');
    await second.child;
    const ids = idsOf(readText(log));
    expect(ids.slice(accepted.length, accepted.length + left.length)).toEqual(left);
    expect(new Set(ids).size).toBe(ids.length);
    const begin = posted.indexOf(ids.find((id) => posted.includes(id)) ?? '');
    const own = ids.filter((id) => posted.includes(id));
    expect(own).toEqual(posted.slice(begin, begin + own.length));
    expect(second.stderr).toMatch(/stopped after \S+: \d+ posts?, no gaps, 0 CU/);
    relay.kill('SIGTERM');
    await relay;
  });

  it('without a group resumes after the last acknowledged post', async () => {
    const server = await startServer();
    const sandbox = await withSandbox({ unmetered: true, ratePerMinute: 60_000 });
    const env = { TRDR_STORE: server.url };
    const home = openHome();
    const relay = startTrdr(['thesis', 'relay', '--via', 'poll', '--lag', '200ms', '--yes'], {
      sandbox,
      env,
    });
    const log = join(home.path, 'log');
    const follow = () => {
      const flags = [
        '--via',
        'store',
        '--since',
        '1h',
        '--checkpoint',
        join(home.path, 'ck'),
        '--batch',
        '3',
      ];
      // A batch takes so long that few of them are acknowledged between two saves.
      return startTail([...flags, '--exec', `cat >> '${log}'; sleep 0.1`], { sandbox, env, home });
    };
    const posted: string[] = [];
    const timer = setInterval(() => posted.push(sandbox.post().id), 20);
    let at = 0;
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      const run = follow();
      await until(() => idsOf(readText(log)).length > at + 20);
      run.child.kill(signal);
      await run.child;
      at = idsOf(readText(log)).length;
    }
    clearInterval(timer);
    const ids = idsOf(readText(log));
    const own = ids.filter((id) => posted.includes(id));
    const once = [...new Set(own)];
    const begin = posted.indexOf(once[0] ?? '');
    expect(once).toEqual(posted.slice(begin, begin + once.length));
    // A killed run repeats the batch that was not acknowledged, and those that were since the last save.
    expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(2 * 4 * 3);
    relay.kill('SIGTERM');
    await relay;
  });
});
