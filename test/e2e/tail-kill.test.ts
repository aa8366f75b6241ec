import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isSoak, repeats, SEED } from '../repeats.ts';
import type { Sandbox } from '../sandbox/service.ts';
import { type Rng, rngOf } from '../sim/rng.ts';
import {
  asItShouldBe,
  compare,
  gather,
  idsOf,
  listening,
  plenty,
  readText,
  startPosting,
  startTailProgram,
  until,
} from './feed.ts';
import { openDesk, openHome, withSandbox } from './harness.ts';

/** The number of kills; a soak test uses more. */
const ROUNDS = repeats('TAIL_ROUNDS', 1, 100);
/** The number of batches of posts that come while a reader stalls. */
const BATCHES = repeats('STALLED_BATCHES', 40, 1_200);
const timeout = 60_000 + ROUNDS * 5_000;
const disturbances =
  'withhold=2%,dup=2%,reorder=5%:200ms,late=1%:400ms,lag=2%:300ms,500@theses=2%,lost@theses=1%';

/** Disturbs the service; `chance`, a random number, selects how. */
function disturb(sandbox: Sandbox, chance: number) {
  if (chance < 0.1) sandbox.disconnect('drop');
  else if (chance < 0.15) sandbox.restart(100);
}

/**
 * Waits until a client should be killed: half of the time at any moment after its start, else soon after its first
 * output. If all clients were killed early, none would get past a start that reads far back.
 */
async function untilKillTime(
  random: Rng,
  grown: () => boolean,
  client: ReturnType<typeof startTailProgram>,
) {
  if (random.next() < 0.5) return delay(50 + random.int(850));
  await until(grown).catch((error: Error) => expect.fail(`${error.message}\n${client.stderr}`));
  return delay(random.int(150));
}

test.each(['--out', '--checkpoint'])(
  `${ROUNDS} kills of a tail with %s lose no line`,
  { timeout },
  async (flag) => {
    const random = rngOf(SEED);
    const { sandbox, home } = await openDesk({ ...plenty, seed: SEED });
    const isFile = flag === '--out';
    const out = home.at('theses.ndjson');
    const printed: string[] = [];
    let grown = false;
    const start = (...more: string[]) => {
      grown = false;
      const client = startTailProgram([flag, out, '--yes', '--lag', '300ms', ...more], {
        sandbox,
        home,
      });
      client.child.stdout.once('data', () => {
        grown = true;
      });
      return client;
    };
    /** Waits for the end of a run, and records the ids of the complete lines, which are those that a reader sees. */
    const end = async (run: ReturnType<typeof startTailProgram>) => {
      const { stdout, exitCode } = await run.child;
      const ids = idsOf(stdout.slice(0, stdout.lastIndexOf('\n') + 1));
      expect(new Set(ids).size, `seed ${SEED}: duplicates within one run`).toBe(ids.length);
      printed.push(...ids);
      return { exitCode, stderr: run.stderr, ids };
    };
    const posting = startPosting(sandbox, 50, () => (random.next() < 0.01 ? 100 : 1));
    let client = start();
    await until(() => (isFile ? readText(out).includes('\n') : grown));
    sandbox.faults.set(disturbances);
    for (let round = 0; round < ROUNDS; round++) {
      const { length } = readText(out);
      disturb(sandbox, random.next());
      await untilKillTime(random, () => (isFile ? readText(out).length > length : grown), client);
      client.child.kill('SIGKILL');
      await end(client);
      client = start();
    }
    client.child.kill('SIGKILL');
    await end(client);
    posting.stop();
    sandbox.faults.set('');
    const last = await end(start('--duration', '4s'));
    expect(last.exitCode, last.stderr).toBe(0);
    const lines = isFile ? idsOf(readText(out)) : printed;
    const wanted = posting.ids.slice(Math.min(...lines.map((id) => posting.ids.indexOf(id))));
    const { doubled, ...found } = compare(wanted, lines);
    // A reader may see again what was printed since the last checkpoint.
    const result = { ...found, doubled: isFile ? doubled : [] };
    expect(result, `seed ${SEED}`).toEqual(asItShouldBe);
    if (isFile) expect(readText(out)).toMatch(/\n$/);
    // After a clean end, printed posts are known and not repeated.
    else expect((await end(start('--duration', '1500ms'))).ids).toEqual([]);
  },
);

/** The memory of a process in MB: current and peak. */
function memoryOf(pid: number | undefined): { readonly now: number; readonly most: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1]) / 1_024;
  return { now: of('VmRSS'), most: of('VmHWM') };
}

test.runIf(process.platform === 'linux')(
  'a stalled reader loses no line and needs bounded memory',
  async () => {
    const sandbox = await withSandbox(plenty);
    const tail = startTailProgram(['--yes', '--lag', '500ms', '--via', 'ws'], {
      sandbox,
      home: openHome(),
    });
    await until(() => listening(sandbox) > 0);
    const { stdout, pid } = tail.child;
    stdout.pause();
    const posting = startPosting(sandbox, 1_000, () => 0);
    // Send more than all buffers hold, so that the feed itself has to wait.
    const long = { ...sandbox.post(), thesis: 'x'.repeat(10_000) };
    posting.ids.push(long.id);
    for (let batch = 0; batch < BATCHES; batch++) {
      for (let at = 0; at < 25; at++) {
        const id = `${long.id}-${batch}-${at}`;
        posting.ids.push(sandbox.post({ ...long, id, platformCreatedAt: sandbox.clock.now() }).id);
      }
      await delay(10);
    }
    const held = memoryOf(pid);
    const printed = gather(stdout);
    stdout.resume();
    await until(() => printed.ids.length >= posting.ids.length, isSoak ? 1_800_000 : 100_000);
    // The connection may have been replaced, because its frames did not fit into the queue.
    await until(() => listening(sandbox) > 0);
    const { most } = memoryOf(pid);
    tail.child.kill('SIGINT');
    await tail.child;
    expect(printed.ids.length).toBe(posting.ids.length);
    expect(new Set(printed.ids)).toEqual(new Set(posting.ids));
    // Versions of Node differ; a client that keeps all posts of the soak takes 800 MB.
    expect(held.most).toBeLessThan(300);
    // The walk that finds what the connection did not deliver has these posts in memory once.
    const postedMb = (posting.ids.length * long.thesis.length) / 2 ** 20;
    expect(most).toBeLessThan(300 + postedMb);
  },
);
