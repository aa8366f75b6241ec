import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { followGroup, type GroupEvent } from '../../src/store/feed/group.ts';
import type { GroupOptions, GroupPlace } from '../../src/store/feed/group-batches.ts';
import type { RelayMemory } from '../../src/store/feed/leader-term.ts';
import { until } from '../e2e/feed.ts';
import { has } from '../tools.ts';
import { type StoreServer, startServer } from './server.ts';
import { feed, leader, noMemory, posts } from './terms.ts';

/**
 * A member that takes as long as `work` with its first batch. It can be stopped like a killed process: without
 * acknowledging or resigning.
 */
function join(server: StoreServer, given: Partial<GroupOptions> = {}, work?: Promise<void>) {
  const over = new AbortController();
  const got: string[] = [];
  const kinds: string[] = [];
  let acknowledge = true;
  let acknowledgements = 0;
  let open: Extract<GroupEvent, { kind: 'batch' }> | undefined;
  const gaps: GroupEvent[] = [];
  const options: GroupOptions = {
    ...{
      open: () => server.connect({ commandMs: 5_000 }),
      feed,
      name: 'g',
      shared: false,
      machine: 'm',
    },
    ...{ clock: systemClock, batch: 10, lingerMs: 0, start: '0', memory: noMemory, ...given },
  };
  const done = (async () => {
    for await (const event of followGroup(options, over.signal)) {
      kinds.push(event.kind);
      if (event.kind === 'gap') gaps.push(event);
      if (event.kind !== 'batch') continue;
      got.push(...event.rows.map(({ id }) => id));
      open = event;
      await work;
      // A member that was stopped in the meantime leaves the batch to the next member.
      if (!acknowledge) continue;
      await event.ack().then(
        () => acknowledgements++,
        () => {},
      );
    }
  })();
  return {
    ...{ got, kinds, gaps, over },
    open: () => open,
    acknowledged: () => acknowledgements,
    hold: () => {
      acknowledge = false;
    },
    stop: async () => {
      over.abort();
      await done;
    },
  };
}

describe.skipIf(!has('redis-server'))('a group', () => {
  it('has one active member; the next one starts with what was not acknowledged', async () => {
    const server = await startServer();
    const term = await leader(server);
    await term.publish(posts('a', 'b'));
    const one = join(server, { batch: 1 });
    await until(() => one.got.length === 2);
    one.hold();
    await term.publish(posts('c', 'd'));
    await until(() => one.got.includes('c'));
    const two = join(server);
    await until(() => two.kinds.includes('standby'));
    await one.stop();
    await until(() => two.got.length === 2);
    expect(two.got).toEqual(['c', 'd']);
    await two.stop();
  });

  it('fences a member whose lease was taken over', async () => {
    const server = await startServer();
    const term = await leader(server);
    const one = join(server);
    one.hold();
    await term.publish(posts('a'));
    await until(() => one.got.length === 1);
    const admin = await server.connect();
    await admin.send('SET', [feed.group('g'), 'another']);
    await expect(one.open()?.ack()).rejects.toThrow(/no longer the active member/);
    expect(await admin.send('XPENDING', [feed.stream, 'g'])).toEqual(expect.arrayContaining([1]));
    await one.stop();
  });

  it('joins again after its last acknowledged post when the group is removed', async () => {
    const server = await startServer();
    const admin = await server.connect();
    const term = await leader(server);
    await term.publish(posts('before'));
    for (const shared of [false, true]) {
      const name = `shared ${shared}`;
      const one = join(server, { name, shared, start: '$', batch: 1 });
      await until(async () =>
        String(await admin.send('XINFO', ['GROUPS', feed.stream])).includes(name),
      );
      await term.publish(posts(`${name} a`, `${name} b`));
      await until(() => one.got.length === 2);
      await admin.send('DEL', [feed.group(name)]);
      await admin.send('XGROUP', ['DESTROY', feed.stream, name]);
      await term.publish(posts(`${name} c`));
      await until(() => one.got.length === 3);
      expect([one.got[2], one.kinds.includes('interrupted')]).toEqual([`${name} c`, true]);
      await one.stop();
    }
  });

  it('knows what it missed when the store loses everything', async () => {
    const server = await startServer();
    const admin = await server.connect();
    const memory: RelayMemory = { token: '', state: undefined };
    const kept = new Map<string, GroupPlace>();
    const remembering = (name: string, given: Partial<GroupOptions> = {}) =>
      join(server, {
        ...{ name, start: '$', ...given },
        memory: { read: () => kept.get(name), save: (place) => void kept.set(name, place) },
      });
    let term = await leader(server, memory);
    const publish = async (...ids: readonly string[]) => {
      await term.publish(posts(...ids));
      await term.save('{"mark":1}', null);
    };
    const lose = async () => {
      await admin.send('FLUSHALL', []);
      await until(() => term.over.aborted);
      term = await leader(server, memory);
    };
    const hasGroup = async (name: string) =>
      String(await admin.send('XINFO', ['GROUPS', feed.stream]).catch(() => '')).includes(name);

    const [one, many] = [remembering('one'), remembering('many', { shared: true })];
    await until(async () => (await hasGroup('one')) && (await hasGroup('many')));
    const standby = join(server, { name: 'one' });
    await until(() => standby.kinds.includes('standby'));
    await publish('a');
    await until(() => one.acknowledged() === 1 && many.acknowledged() === 1);
    await lose();
    await until(async () => (await hasGroup('one')) && (await hasGroup('many')));
    await publish('b');
    await until(() => one.got.length === 2 && many.got.length === 2);
    // The member that was active has read all; of a shared group, no member knows what the others have read.
    expect([one.got, one.gaps, one.kinds.includes('found')]).toEqual([['a', 'b'], [], true]);
    expect(many.gaps).toMatchObject([{ missing: null, from: { id: 'a' }, to: { id: 'b' } }]);
    for (const member of [one, many, standby]) await member.stop();

    // A machine whose group is gone when it starts knows up to where it has read.
    await publish('missed');
    await lose();
    await publish('c');
    const later = remembering('one');
    await until(() => later.got.length === 1);
    expect([later.got, later.gaps]).toMatchObject([
      ['c'],
      [{ from: { id: 'b' }, to: { id: 'c' } }],
    ]);
    await later.stop();
  });

  it('shares posts among many members, and gives those of a dead member to others', async () => {
    const server = await startServer();
    const term = await leader(server);
    const shared = { shared: true, batch: 1, abandonedMs: 200 } as const;
    const [one, two] = [join(server, shared), join(server, shared)];
    await until(() => one.kinds.includes('active') && two.kinds.includes('active'));
    await term.publish(posts('a', 'b', 'c', 'd', 'e', 'f'));
    await until(() => one.got.length + two.got.length === 6);
    expect(new Set([...one.got, ...two.got]).size).toBe(6);
    one.hold();
    two.hold();
    await term.publish(posts('g'));
    await until(() => [...one.got, ...two.got].includes('g'));
    await Promise.all([one.stop(), two.stop()]);
    const three = join(server, shared);
    await until(() => three.got.includes('g'));
    await three.stop();
  });
});

/** Work that lasts until `finish` is called. */
function slowWork() {
  let finish = () => {};
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { work, finish };
}

describe.skipIf(!has('redis-server'))('a group whose batches take long', () => {
  it('leaves a batch with its member for as long as the member lives', async () => {
    const server = await startServer();
    const term = await leader(server);
    const admin = await server.connect();
    const shared = { shared: true, batch: 1, abandonedMs: 200 } as const;
    const { work, finish } = slowWork();
    const one = join(server, shared, work);
    await term.publish(posts('a'));
    await until(() => one.got.length === 1);
    const two = join(server, shared);
    const pending = async () => {
      const [entry] = [await admin.send('XPENDING', [feed.stream, 'g', '-', '+', 10])].flat();
      return Array.isArray(entry) ? Number(entry[3]) : 0;
    };
    // Each renewal counts as a delivery of the batch; four renewals fit in the time after which the batch
    // would be given to another member.
    await until(async () => (await pending()) > 12);
    expect(two.got).toEqual([]);
    finish();
    await until(async () => (await pending()) === 0);
    await Promise.all([one.stop(), two.stop()]);
  });

  it.each([true, false])(
    'acknowledges a batch that ends after a signal (shared: %s)',
    async (shared) => {
      const server = await startServer();
      const term = await leader(server);
      const admin = await server.connect();
      const { work, finish } = slowWork();
      const one = join(server, { shared, leaseMs: 400 }, work);
      await term.publish(posts('a', 'b'));
      await until(() => one.got.length === 2);
      one.over.abort();
      const lease = await admin.send('GET', [feed.group('g')]);
      // The lease is still renewed after the signal, until the batch is done.
      const renewed = async () => Number(await admin.send('PTTL', [feed.group('g')]));
      const first = shared ? 0 : await renewed();
      if (!shared) await until(async () => (await renewed()) > first);
      expect(await admin.send('GET', [feed.group('g')])).toBe(lease);
      expect(one.open()?.over.aborted).toBe(false);
      finish();
      await one.stop();
      expect(await admin.send('XPENDING', [feed.stream, 'g'])).toEqual([0, null, null, null]);
      expect(await admin.send('GET', [feed.group('g')])).toBe(null);
    },
  );
});
