import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AnyJson, ask, closeLater, listen, MINUTE, NOON, sandbox } from '../conformance/help.ts';

async function file(name: string, records: readonly unknown[]) {
  const folder = await mkdtemp(join(tmpdir(), 'trdr-'));
  closeLater(() => rm(folder, { recursive: true }));
  const path = join(folder, name);
  await writeFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  return { folder, path };
}

const recorded = (id: string, platformCreatedAt: number, more = {}) => ({
  id,
  authorHandle: 'mira',
  thesis: `Post ${id}`,
  platformCreatedAt,
  ...more,
});

describe('live posts', () => {
  it('arrive at the given rate, at times that depend on the seed', async () => {
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
    expect(one.posted).toBeGreaterThan(500);
    expect(one.posted).toBeLessThan(700);
    expect(await times(3)).toEqual(one);
    expect((await times(4)).times).not.toEqual(one.times);
  });

  it('do not arrive by default', async () => {
    const service = await sandbox();
    await service.advance(60 * MINUTE);
    expect(service.counts.posts).toBe(0);
    service.setRate(60);
    await service.advance(10 * MINUTE);
    const { posts } = service.counts;
    expect(posts).toBeGreaterThan(400);
    service.setRate(0);
    await service.advance(10 * MINUTE);
    expect(service.counts.posts).toBe(posts);
  });
});

describe('a recording', () => {
  it('is replayed with its own timing, dated to the present', async () => {
    const { path } = await file('feed.ndjson', [
      recorded('one', 1_000_000),
      recorded('three', 1_060_000, { closedAt: 1_070_000 }),
      recorded('two', 1_010_000),
    ]);
    const service = await sandbox({ replay: { file: path, speed: 10 }, rate: 600 });
    const socket = await listen(service);
    await socket.subscribe();
    await service.advance(999);
    expect((await socket.drain()).map(({ data }) => data.id)).toEqual(['one']);
    await service.advance(1);
    expect((await socket.drain()).map(({ data }) => [data.id, data.platformCreatedAt])).toEqual([
      ['two', NOON + 1_000],
    ]);
    await service.advance(10_000);
    const [last] = await socket.drain();
    expect(last.data).toMatchObject({
      id: 'three',
      platformCreatedAt: NOON + 6_000,
      closedAt: NOON + 16_000,
    });
    expect(service.counts.posts).toBe(3);
    const { body } = await ask(service, '/v2/thesis?limit=3');
    expect(body.items.map((item: AnyJson) => item.id)).toEqual(['three', 'two', 'one']);
  });
});

describe('loaded data', () => {
  it('is served from a folder of NDJSON files', async () => {
    const { folder } = await file('theses.ndjson', [
      recorded('mine', NOON - 1_000),
      recorded('older', NOON - 2_000),
    ]);
    const service = await sandbox({ data: folder });
    const { body } = await ask(service, '/v2/thesis');
    expect(body.items.map((item: AnyJson) => item.id)).toEqual(['mine', 'older']);
  });
});
