import { rmSync, statSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { StoreConnection } from '../../src/store/connection.ts';
import { readEntries, type StreamRow } from '../../src/store/feed/entry.ts';
import { keysOf } from '../../src/store/keys.ts';
import {
  asItShouldBe,
  compare,
  idsOf,
  plenty,
  readText,
  startPosting,
  until,
} from '../e2e/feed.ts';
import { openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { repeats, SEED, timeoutFor } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import { has } from '../tools.ts';
import { type StoreServer, startServer } from './server.ts';

const disasters = ['leader', 'power', 'server', 'empty', 'follower', 'pause'] as const;
type Disaster = (typeof disasters)[number];

const disturbances = 'withhold=2%,dup=2%,reorder=5%:200ms,500@theses=2%,lost@theses=1%';

/** Two relays and two followers of one feed in separate processes, with disasters that the test triggers. */
async function startFeedFleet({
  sandbox,
  server,
  random,
}: {
  readonly sandbox: Sandbox;
  readonly server: StoreServer;
  readonly random: Rng;
}) {
  const said: string[] = [];
  const past: string[] = [];
  const envOf = (name: string) => ({ TRDR_STORE: server.url, TRDR_MACHINE: name });
  const listen = (name: string, child: ReturnType<typeof startTrdr>) => {
    child.stderr.on('data', (part: Buffer) => {
      said.push(`${name} ${part}`);
      // Save only the latest notices, which suffice to explain a failure.
      if (said.length > 400) said.shift();
    });
    return child;
  };
  // A relay that is started again has the files of its machine.
  const homes = [openHome(), openHome()] as const;
  const relay = (name: string, at: number) =>
    listen(
      name,
      startTrdr(['thesis', 'relay', '--yes', '--lag', '300ms'], {
        ...{ sandbox, home: homes[at] ?? openHome(), env: envOf(name) },
      }),
    );
  const outs = ['one', 'two'].map((name) => ({ name, home: openHome() }));
  const follow = ({ name, home }: (typeof outs)[number]) => {
    const output = ['--out', 'theses.ndjson', '--since', '1h', '--fields', 'id,platformCreatedAt'];
    // When the store loses everything, posts on their way to a follower can be lost: a gap, which is filled.
    output.push('--fill', '--yes');
    return listen(
      name,
      startTrdr(['thesis', 'tail', '--via', 'store', ...output], {
        sandbox,
        home,
        env: envOf(name),
      }),
    );
  };
  const fileOf = (at: number) => join(outs[at]?.home.path ?? '', 'theses.ndjson');
  const text = (at: number) => readText(fileOf(at));
  const size = (at: number) => statSync(fileOf(at), { throwIfNoEntry: false })?.size ?? 0;
  const patience = (what: () => boolean) =>
    until(what, 60_000).catch((error: Error) =>
      expect.fail(`seed ${SEED}: ${error.message}\n${said.join('')}`),
    );

  const relays = [relay('relay-a', 0), relay('relay-b', 1)];
  const followers = outs.map(follow);
  const posting = startPosting(sandbox, 50, () => (random.next() < 0.01 ? 50 : 1));
  await patience(() => size(0) > 0);
  sandbox.faults.set(disturbances);

  const happens: Readonly<
    Record<Disaster, (victim: number, round: number, grown: number) => Promise<void>>
  > = {
    async leader(victim, round) {
      relays[victim]?.kill(random.next() < 0.5 ? 'SIGKILL' : 'SIGTERM');
      await relays[victim];
      relays[victim] = relay(`relay-${round}`, victim);
    },
    async server() {
      await server.kill();
      await delay(random.int(500));
      await server.start();
    },
    /**
     * The server loses its last writes, although a follower has delivered their posts. The file is cut at any byte, also
     * inside a transaction.
     */
    async power(victim, _, grown) {
      const file = server.aof();
      const synced = statSync(file).size;
      await patience(() => size(0) > 2_000 && size(1 - victim) > grown + 500);
      await server.kill();
      // The server may have started a new file in the meantime.
      const last = server.aof();
      const least = last === file ? synced : 0;
      truncateSync(last, least + random.int(statSync(last).size + 1 - least));
      await server.start();
    },
    /** The server loses everything: at once, or because it is started again without its file. */
    async empty() {
      if (random.next() < 0.5) {
        const admin = await server.connect();
        await admin.send('FLUSHALL', []);
        admin.close();
      } else {
        await server.kill();
        rmSync(dirname(server.aof()), { recursive: true });
        await delay(random.int(3_000));
        await server.start();
      }
    },
    async follower(victim) {
      followers[victim]?.kill('SIGKILL');
      await followers[victim];
      const place = outs[victim];
      if (place) followers[victim] = follow(place);
    },
    async pause(victim) {
      relays[victim]?.kill('SIGSTOP');
      await delay(12_000);
      relays[victim]?.kill('SIGCONT');
    },
  };

  return {
    posting,
    /** Triggers a disaster, and waits until posts arrive again. */
    async suffer(disaster: Disaster, round: number) {
      const victim = random.int(2);
      const grown = size(1 - victim);
      past.push(
        `${new Date().toISOString()} ${disaster} ${victim} after ${posting.ids.length} posts`,
      );
      await happens[disaster](victim, round, grown);
      await patience(() => size(1 - victim) > grown);
    },
    /** Stops all processes normally, and expects each post once in the stream and in every file. */
    async finish() {
      sandbox.faults.set('');
      posting.stop();
      const last = posting.ids.at(-1) ?? '';
      await patience(() => text(0).includes(last) && text(1).includes(last));
      // Restart the relays: a new leader starts with a walk, which finds the posts that the WebSocket withheld.
      for (const [at, child] of relays.entries()) {
        child.kill('SIGTERM');
        await child;
        relays[at] = relay(`relay-last-${at}`, at);
      }
      const complete = (at: number) => {
        const lines = idsOf(text(at));
        const posted = new Set(posting.ids);
        const first = posting.ids.indexOf(lines.find((id) => posted.has(id)) ?? '');
        return compare(posting.ids.slice(first), lines).lost.length === 0;
      };
      // A process that has just been started does not handle signals yet.
      const begun = (at: number) => said.some((line) => line.startsWith(`relay-last-${at} `));
      await patience(() => begun(0) && begun(1));
      // A machine that does not know the rate limit, because the store has lost it, may wait for a minute.
      await until(() => complete(0) && complete(1), 90_000).catch(() => {});
      const all = [...relays, ...followers];
      for (const child of all) child.kill('SIGTERM');
      const codes = await Promise.all(all.map(async (child) => (await child).exitCode));
      expect(codes, said.join('')).toEqual([143, 143, 143, 143]);
      const admin = await server.connect();
      const keys = keysOf({ baseUrl: sandbox.url, key: sandbox.key });
      const entries = await wholeStream(admin, keys.feed('thesis').stream);
      const first = new Map<string, number>();
      const doubled = entries.flatMap(({ id }, at) => {
        const before = first.get(id);
        first.set(id, before ?? at);
        return before === undefined ? [] : [`entry ${at} repeats entry ${before}`];
      });
      expect(doubled, `seed ${SEED}: ${past.join('\n')}\n${said.join('')}`).toEqual([]);
      const known = new Set(posting.ids);
      for (const at of [0, 1]) {
        // Posts from before the start of the relays may come first, or with a gap that begins there: posts that were
        // posted just before, and older ones of the service's own.
        const posts = postsOf(text(at));
        const oldest = Math.min(
          ...posts.flatMap((post) => (known.has(post.id) ? post.platformCreatedAt : [])),
        );
        const lines = posts.filter(
          ({ id, platformCreatedAt }) => known.has(id) || platformCreatedAt > oldest,
        );
        const ids = new Set(lines.map(({ id }) => id));
        const wanted = posting.ids.slice(posting.ids.findIndex((id) => ids.has(id)));
        const result = compare(
          wanted,
          lines.map(({ id }) => id),
        );
        expect(result, `seed ${SEED}: ${said.join('')}`).toEqual(asItShouldBe);
      }
    },
  };
}

/** The posts in the complete lines of a file. */
const postsOf = (text: string): { readonly id: string; readonly platformCreatedAt: number }[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** All entries of a stream, some at a time: an hour of posts takes longer than one command may take. */
async function wholeStream(store: StoreConnection, stream: string): Promise<StreamRow[]> {
  const entries: StreamRow[] = [];
  for (let from = '-'; ; ) {
    const page = readEntries(await store.send('XRANGE', [stream, from, '+', 'COUNT', 2_000]));
    if (page.length === 0) return entries;
    entries.push(...page);
    from = `(${page.at(-1)?.entry}`;
  }
}

/** Number of disasters; higher in a long run. */
const ROUNDS = repeats('STORE_ROUNDS', 1, 60);

describe.skipIf(!has('redis-server'))('a fleet on one feed', () => {
  it(
    `gives followers every post once, through ${ROUNDS} kills, pauses, power failures and losses of the whole store`,
    timeoutFor(ROUNDS),
    async () => {
      const [random, server, sandbox] = [
        rngOf(SEED),
        await startServer(),
        await withSandbox({ ...plenty, seed: SEED }),
      ];
      const fleet = await startFeedFleet({ sandbox, server, random });
      for (let round = 0; round < ROUNDS; round++) {
        await fleet.suffer(disasters[round % disasters.length] ?? 'leader', round);
      }
      await fleet.finish();
      expect(fleet.posting.ids.length).toBeGreaterThan(0);
    },
  );
});
