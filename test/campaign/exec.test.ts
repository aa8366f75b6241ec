import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  compare,
  idsOf,
  plenty,
  readText,
  startPosting,
  startTailProgram,
  until,
} from '../e2e/feed.ts';
import { openHome, withSandbox } from '../e2e/harness.ts';
import { repeats, SEED, timeoutFor } from '../repeats.ts';
import { rngOf } from '../sim/rng.ts';

// The real program hands posts over while it, its command and the service are killed at random.
// EXEC_ROUNDS=200 runs longer, SEED=n runs the same kills again.

const ROUNDS = repeats('EXEC_ROUNDS', 1, 60);
const disturbances = 'withhold=2%,dup=2%,late=1%:400ms,lag=2%:300ms,500@theses=2%,lost@theses=1%';

/**
 * The command. It logs each batch as one line when it is processed. Its mode is `ok`, `fail` (exits before
 * processing), `late` (fails after processing) or `slow`.
 */
const script = `#!/bin/sh
cd "$1"
echo $$ > pid
ids=$(sed -n 's/^{"id":"\\([^"]*\\)","platformCreatedAt":\\([0-9]*\\).*/\\1@\\2/p' | tr '\\n' ' ')
mode=$(cat mode)
[ "$mode" = slow ] && sleep 0.3
[ "$mode" = fail ] && exit 1
end=ok
[ "$mode" = late ] && end=fail
echo "$RUN $TRDR_BATCH $TRDR_ATTEMPT $end $ids" >> log
[ $end = ok ]
`;

interface Entry {
  readonly run: string;
  readonly batch: number;
  readonly attempt: number;
  readonly ok: boolean;
  readonly ids: readonly string[];
  /** The times of its posts. */
  readonly times: readonly number[];
}

/** Where a run has ended, by the number of entries, and what its checkpoint had then. */
interface End {
  readonly entries: number;
  readonly has: (id: string, at: number) => boolean;
}

const entriesOf = (text: string): Entry[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [run = '', batch, attempt, end, ...posts] = line.trim().split(' ');
      const marks = posts.map((post) => post.split('@'));
      return {
        ...{ run, batch: Number(batch), attempt: Number(attempt), ok: end === 'ok' },
        ids: marks.map(([id = '']) => id),
        times: marks.map(([, at]) => Number(at)),
      };
    });

/** Whether a checkpoint has a post, so that no later run may hand it over. */
function coverageOf(checkpoint: string): End['has'] {
  const { ids, verified } = JSON.parse(checkpoint);
  const saved = new Set(ids.map(([id]: [string]) => id));
  return (id, at) => saved.has(id) || (verified !== null && at <= verified);
}

/** Kills a process, which may have ended in the meantime. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ignore the error: the process has ended.
  }
}

/**
 * Finds posts that a run has repeated, also those that an earlier run had acknowledged and saved, and batches out of
 * order.
 */
function problemsOf(entries: readonly Entry[], ends: readonly End[]): string[] {
  const problems: string[] = [];
  const done = new Map<string, Entry>();
  for (const [place, entry] of entries.entries()) {
    const past = ends.filter((end) => end.entries <= place);
    for (const [at, id] of entry.ids.entries()) {
      const before = done.get(id);
      const isSaved = past.some(({ has }) => has(id, entry.times[at] ?? 0));
      if (before && (before.run === entry.run || isSaved))
        problems.push(`${id} was repeated after batch ${before.batch}`);
      if (entry.ok) done.set(id, entry);
    }
  }
  for (const [at, entry] of entries.entries()) {
    const next = entries.slice(at + 1).find(({ run }) => run === entry.run);
    if (
      next &&
      (next.batch < entry.batch || (next.batch === entry.batch && next.attempt <= entry.attempt))
    )
      problems.push(`batch ${next.batch} came after batch ${entry.batch}`);
  }
  return problems;
}

test.runIf(process.platform === 'linux')(
  `${ROUNDS} kills of trdr, the command or the service lose no post and repeat only what was not saved`,
  timeoutFor(ROUNDS),
  async () => {
    process.stderr.write(`campaign: SEED=${SEED}, ${ROUNDS} rounds\n`);
    const random = rngOf(SEED);
    const sandbox = await withSandbox({ ...plenty, seed: SEED });
    const home = openHome();
    const path = (name: string) => join(home.path, name);
    writeFileSync(path('deliver'), script);
    chmodSync(path('deliver'), 0o755);
    const mode = (text: string) => writeFileSync(path('mode'), text);
    let runs = 0;
    const start = () => {
      const run = `${++runs}`;
      const flags =
        `--yes --lag 300ms --fields id,platformCreatedAt --checkpoint ${path('ck')}`.split(' ');
      const batch = ['--batch', `${1 + random.int(5)}`, '--linger', `${random.int(200)}ms`];
      const exec = ['--exec', `'${path('deliver')}' '${home.path}'`, '--tries', '0'];
      const env = { RUN: run };
      return Object.assign(
        startTailProgram([...flags, ...batch, ...exec], { sandbox, home, env }),
        { run },
      );
    };
    const entries = () => entriesOf(readText(path('log')));
    const ends: End[] = [];
    /** Waits for the end of a run. What it was told to end, and could, has saved all that was acknowledged. */
    const ended = async ({ run, child }: ReturnType<typeof start>) => {
      const { exitCode } = await child;
      const all = entries();
      const own = all.filter((entry) => entry.ok && entry.run === run);
      const acknowledged = new Set(own.flatMap(({ ids }) => ids));
      const has = coverageOf(readText(path('ck')));
      ends.push({
        entries: all.length,
        has: (id, at) => has(id, at) || (exitCode === 143 && acknowledged.has(id)),
      });
    };

    mode('ok');
    let client = start();
    await until(() => readText(path('ck')) !== '');
    const posting = startPosting(sandbox, 40, () => (random.next() < 0.02 ? 30 : 1));
    await until(() => entries().length > 0);
    sandbox.faults.set(disturbances);
    for (let round = 0; round < ROUNDS; round++) {
      const before = entries().length;
      mode(['ok', 'ok', 'slow', 'late', 'fail'][random.int(5)] ?? 'ok');
      await delay(50 + random.int(550));
      const chance = random.next();
      if (chance < 0.15) sandbox.restart(100);
      else if (chance < 0.4) {
        const pid = Number(readText(path('pid')));
        // Check that the pid is that of a running command: an empty pid file would send the signal to the process
        // group of this test, and an old one to other processes.
        if (pid > 1 && readText(`/proc/${pid}/cmdline`).includes(home.path)) kill(-pid);
      } else {
        const how = (['SIGKILL', 'SIGKILL', 'SIGTERM'] as const)[random.int(3)] ?? 'SIGKILL';
        mode('ok');
        client.child.kill(how);
        await ended(client);
        client = start();
      }
      mode('ok');
      // Half of the rounds do not wait, so that some runs are killed while they start.
      if (random.next() < 0.5) await until(() => entries().length > before);
    }
    client.child.kill('SIGTERM');
    await ended(client);
    posting.stop();
    sandbox.faults.set('');
    // On a slow machine, many batches may still be waiting: the run ends when none comes for half a minute.
    const last = start();
    const missing = () => {
      const have = new Set(entries().flatMap(({ ok, ids }) => (ok ? ids : [])));
      return posting.ids.filter((id) => !have.has(id));
    };
    for (let waits = 0, left = missing().length; left > 0 && waits < 150; waits++) {
      await delay(200);
      if (missing().length < left) waits = 0;
      left = missing().length;
    }
    last.child.kill('SIGTERM');
    expect((await last.child).exitCode, last.stderr).toBe(143);

    const got = entries().filter(({ ok }) => ok);
    const { lost, foreign } = compare(
      posting.ids,
      got.flatMap(({ ids }) => ids),
    );
    const problems = problemsOf(entries(), ends);
    process.stderr.write(`campaign: ${entries().length} batches\n`);
    expect({ lost, foreign, problems }, `seed ${SEED}`).toEqual({
      lost: [],
      foreign: [],
      problems: [],
    });
    expect(idsOf(readText(path('ck.dead.ndjson')))).toEqual([]);
  },
);
