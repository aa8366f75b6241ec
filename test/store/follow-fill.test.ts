import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openTerm, type Post } from '../../src/store/feed/term.ts';
import { keysOf } from '../../src/store/keys.ts';
import { openHome, runInProcess, withSandbox } from '../e2e/harness.ts';
import { hasServer } from './program.ts';
import { startServer } from './server.ts';

describe.skipIf(!hasServer())('--fill', () => {
  it.each([
    ['the start of the gap is still there', false],
    ['the start of the gap was deleted', true],
  ])('prints each post of a gap once, also late ones, if %s', async (_, deleted) => {
    const server = await startServer();
    const sandbox = await withSandbox({ unmetered: true, ratePerMinute: 60_000 });
    for (let each = 0; each < 60; each++) sandbox.post();
    const options = { sandbox, home: openHome(), env: { TRDR_STORE: server.url } };
    const listed = await runInProcess(['thesis', 'list', '--limit', '60', '-o', 'ndjson'], options);
    const posts = listed
      .lines()
      .map((body): Post => {
        const { id, platformCreatedAt } = JSON.parse(body);
        return { id, at: platformCreatedAt, body };
      })
      .reverse();
    const [first, rest] = [posts.slice(0, 10), posts.slice(10)];
    const late = rest.splice(20, 1);

    const store = await server.connect();
    const feed = keysOf({ baseUrl: sandbox.url, key: sandbox.key }).feed('thesis');
    const term = await openTerm({
      ...{ store, feed, clock: systemClock, keepMs: 3_600_000, keepRows: 100_000 },
      describe: () => ({}),
    });
    if ('leftMs' in term) throw new Error('another one leads');
    const tail = (count: number) =>
      runInProcess(
        ['thesis', 'tail', '--via', 'store', '--fill', '--backfill', '100', '--count', `${count}`].concat([
          ...['--checkpoint', join(options.home.path, 'ck'), '--yes', '-o', 'ndjson'],
        ]),
        options,
      );
    await term.publish(first);
    const before = await tail(10);
    expect(before.exitCode, before.stderr).toBe(0);

    await term.publish([...rest.slice(0, -5), ...late, ...rest.slice(-5)]);
    await store.send('XTRIM', [feed.stream, 'MAXLEN', 10]);
    if (deleted) sandbox.world.theses.remove(first.at(-1)?.id ?? '');
    const after = await tail(50);
    expect(after.exitCode, after.stderr).toBe(0);
    expect(after.stderr).toContain('fetching them from the service');
    const ids = [...before.records(), ...after.records()].map(({ id }) => id);
    expect(ids.toSorted()).toEqual(posts.map(({ id }) => id).toSorted());
    store.close();
  });
});
