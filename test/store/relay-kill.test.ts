import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readEntries } from '../../src/store/feed/entry.ts';
import { keysOf } from '../../src/store/keys.ts';
import {
  asItShouldBe,
  compare,
  idsOf,
  randomOf,
  readText,
  seedOf,
  startPosting,
  until,
} from '../e2e/feed.ts';
import { openHome, startTrdr, withSandbox } from '../e2e/harness.ts';
import { hasServer } from './program.ts';
import { startServer } from './server.ts';

/** Number of kills; higher in a soak test. */
const ROUNDS = Number(process.env['STORE_ROUNDS'] ?? 5);
const open = { unmetered: true, ratePerMinute: 600_000, burstPerSecond: 100_000, theses: 50 } as const;
const disturbances = 'withhold=2%,dup=2%,reorder=5%:200ms,500@theses=2%,lost@theses=1%';

type Child = ReturnType<typeof startTrdr>;

describe.skipIf(!hasServer())('a fleet on one feed', () => {
  it(`gives followers every post once, through ${ROUNDS} kills of leaders, followers and the server, and power failures`, {
    timeout: 60_000 + ROUNDS * 30_000,
  }, async () => {
    const seed = seedOf();
    const random = randomOf(seed);
    const server = await startServer();
    const sandbox = await withSandbox({ ...open, seed });
    const options = (name: string) => ({
      sandbox,
      home: openHome(),
      env: { TRDR_STORE: server.url, TRDR_MACHINE: name },
    });
    const said: string[] = [];
    const listen = (name: string, child: Child) =>
      child.stderr.on('data', (part: Buffer) => said.push(`${name} ${part}`));
    const relay = (name: string) => {
      const child = startTrdr(['thesis', 'relay', '--yes', '--lag', '300ms'], options(name));
      listen(name, child);
      return child;
    };
    const outs = ['one', 'two'].map((name) => ({ name, home: openHome() }));
    const follow = ({ name, home }: (typeof outs)[number]) => {
      const args = [
        'thesis',
        'tail',
        '--via',
        'store',
        '--out',
        'theses.ndjson',
        '--since',
        '1h',
        '--fields',
        'id,platformCreatedAt',
      ];
      const child = startTrdr(args, { sandbox, home, env: { TRDR_STORE: server.url, TRDR_MACHINE: name } });
      listen(name, child);
      return child;
    };
    const text = (at: number) => readText(join(outs[at]?.home.path ?? '', 'theses.ndjson'));

    let relays = [relay('relay-a'), relay('relay-b')];
    let followers = outs.map(follow);
    const posting = startPosting(sandbox, 50, () => (random.next() < 0.01 ? 50 : 1));
    const patience = (what: () => boolean) =>
      until(what, 60_000).catch((error: Error) =>
        expect.fail(`seed ${seed}: ${error.message}\n${said.join('')}`),
      );
    await patience(() => text(0).includes('\n'));
    sandbox.faults.set(disturbances);

    for (let round = 0; round < ROUNDS; round++) {
      const victim = random.between(0, 2);
      const grown = text(1 - victim).length;
      const kind = ['leader', 'power', 'server', 'follower', 'pause'][round % 5];
      if (kind === 'leader') {
        relays[victim]?.kill(random.next() < 0.5 ? 'SIGKILL' : 'SIGTERM');
        await relays[victim];
        relays[victim] = relay(`relay-${round}`);
      } else if (kind === 'server') {
        await server.kill();
        await delay(random.between(0, 500));
        await server.start();
      } else if (kind === 'power') {
        // The server loses what it wrote last, down to a torn entry, although a follower has delivered it.
        const file = server.aof();
        const synced = statSync(file).size;
        await patience(() => text(0).length > 2_000 && text(1 - victim).length > grown + 500);
        await server.kill();
        truncateSync(file, synced + random.between(0, statSync(file).size - synced));
        await server.start();
      } else if (kind === 'follower') {
        followers[victim]?.kill('SIGKILL');
        await followers[victim];
        const place = outs[victim];
        if (place) followers[victim] = follow(place);
      } else {
        relays[victim]?.kill('SIGSTOP');
        await delay(12_000);
        relays[victim]?.kill('SIGCONT');
      }
      await patience(() => text(1 - victim).length > grown);
    }

    sandbox.faults.set('');
    posting.stop();
    const last = posting.ids.at(-1) ?? '';
    await patience(() => text(0).includes(last) && text(1).includes(last));
    // A post that the WebSocket withheld is found by the next walk, and a new leader starts with one.
    for (const [at, child] of relays.entries()) {
      child.kill('SIGTERM');
      await child;
      relays[at] = relay(`relay-last-${at}`);
    }
    const complete = (at: number) => {
      const lines = idsOf(text(at));
      const first = posting.ids.indexOf(lines.find((id) => posting.ids.includes(id)) ?? '');
      return compare(posting.ids.slice(first), lines).lost.length === 0;
    };
    // A process that has just been started does not handle signals yet.
    const begun = (at: number) => said.some((line) => line.startsWith(`relay-last-${at} `));
    await patience(() => begun(0) && begun(1));
    await until(() => complete(0) && complete(1), 30_000).catch(() => {});
    for (const child of [...relays, ...followers]) child.kill('SIGTERM');
    const codes = await Promise.all([...relays, ...followers].map(async (child) => (await child).exitCode));
    [relays, followers] = [[], []];
    expect(codes, said.join('')).toEqual([143, 143, 143, 143]);
    const admin = await server.connect();
    const keys = keysOf({ baseUrl: sandbox.url, key: sandbox.key });
    const entries = readEntries(await admin.send('XRANGE', [keys.feed('thesis').stream, '-', '+']));
    const stream = new Set(entries.map(({ id }) => id));
    expect(entries).toHaveLength(stream.size);
    admin.close();
    for (const at of [0, 1]) {
      // The service has older posts of its own, which may come first.
      const lines = idsOf(text(at));
      const from = lines.findIndex((id) => posting.ids.includes(id));
      const wanted = posting.ids.slice(posting.ids.indexOf(lines[from] ?? ''));
      const result = compare(wanted, lines.slice(from));
      const where = result.lost.map(
        (id) => `${wanted.indexOf(id)} of ${wanted.length}, in the stream: ${stream.has(id)}`,
      );
      expect({ seed, ...result }, `${said.join('')}${where.join('\n')}`).toEqual({ seed, ...asItShouldBe });
    }
  });
});
