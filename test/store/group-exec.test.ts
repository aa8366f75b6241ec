import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keysOf } from '../../src/store/keys.ts';
import { idsOf, readText, startTail, until } from '../e2e/feed.ts';
import { openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { has } from '../tools.ts';
import { startServer } from './server.ts';

describe.skipIf(!has('redis-server') || process.platform === 'win32')('--group with --exec', () => {
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
});
