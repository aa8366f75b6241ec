import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type AnyJson,
  ask,
  bearer,
  first,
  handlesWhere,
  holdsWallet,
  listen,
  MINUTE,
  NOON,
  sandbox,
} from '../conformance/help.ts';
import { openFolder } from '../folder.ts';

function file(name: string, records: readonly unknown[]) {
  const folder = openFolder();
  const path = join(folder, name);
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { folder, path };
}

const recorded = (id: string, platformCreatedAt: number, more = {}) => ({
  id,
  authorHandle: 'mira',
  thesis: `Post ${id}`,
  platformCreatedAt,
  ...more,
});

it('live posts arrive at the given rate, at times that depend on the seed, and none by default', async () => {
  const times = async (seed: number) => {
    const service = await sandbox({ seed, rate: 30 });
    await service.advance(20 * MINUTE);
    const { body } = await ask(service, '/v2/thesis?limit=100');
    return {
      posted: service.counts.posts,
      times: body.items.map((item: AnyJson) => item.platformCreatedAt),
    };
  };
  const one = await times(3);
  expect(Math.abs(one.posted - 600)).toBeLessThan(100);
  expect(await times(3)).toEqual(one);
  expect((await times(4)).times).not.toEqual(one.times);
  const service = await sandbox();
  await service.advance(60 * MINUTE);
  expect(service.counts.posts).toBe(0);
});

it('a recording is replayed with its own timing, dated to the present', async () => {
  const { path } = file('feed.ndjson', [
    recorded('one', 1_000_000),
    recorded('three', 1_060_000, { closedAt: 1_070_000 }),
    recorded('two', 1_010_000),
  ]);
  const service = await sandbox({ replay: { file: path, speed: 10 }, rate: 600 });
  const socket = await listen(service);
  await socket.subscribe();
  const came: AnyJson[] = [];
  for (const ms of [999, 1, 10_000]) {
    await service.advance(ms);
    came.push(
      (await socket.drain()).map(({ data }) => [data.id, data.platformCreatedAt, data.closedAt]),
    );
  }
  expect(came).toEqual([
    [['one', NOON, undefined]],
    [['two', NOON + 1_000, undefined]],
    [['three', NOON + 6_000, NOON + 16_000]],
  ]);
  const { body } = await ask(service, '/v2/thesis?limit=3');
  expect(body.items.map((item: AnyJson) => item.id)).toEqual(['three', 'two', 'one']);
});

it('loaded data is served from a folder of NDJSON files', async () => {
  const { folder } = file('theses.ndjson', [
    recorded('mine', NOON - 1),
    recorded('older', NOON - 2),
  ]);
  const { body } = await ask(await sandbox({ data: folder }), '/v2/thesis');
  expect(body.items.map((item: AnyJson) => item.id)).toEqual(['mine', 'older']);
});

it('several sandboxes in one process are independent, and identical for the same seed', async () => {
  const [one, two, other] = [await sandbox(), await sandbox(), await sandbox({ seed: 2 })];
  await ask(one, '/v2/thesis');
  expect([one.meter().totalUnits, two.meter().totalUnits]).toEqual([200, 0]);
  expect([one.key === two.key, one.key === other.key]).toEqual([true, false]);
  const path = `/v2/user/handle/${encodeURIComponent(first(handlesWhere(one, holdsWallet)))}`;
  expect((await ask(one, path)).body).toEqual((await ask(two, path)).body);
});

it('a fixed port and key are accepted, and a port that is in use is reported', async () => {
  const one = await sandbox({ key: 'trdr_test_mine' });
  expect(one.key).toBe('trdr_test_mine');
  await expect(sandbox({ port: one.port })).rejects.toThrow(/EADDRINUSE/);
  await one.close();
  const again = await sandbox({ port: one.port });
  const reply = await fetch(`${again.url}/v2/me`, { headers: bearer(again.key) });
  expect([again.port, reply.status]).toEqual([one.port, 200]);
});
