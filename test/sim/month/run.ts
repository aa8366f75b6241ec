import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../../../src/base/failure.ts';
import { certificateAt, certify, resumeLines } from '../../../src/cli/tail/certify.ts';
import { openFollowed } from '../../../src/cli/tail/output/followed-file.ts';
import { LineCount } from '../../../src/cli/tail/output/line-count.ts';
import { finishedFiles, type RotateRule } from '../../../src/cli/tail/output/rotation.ts';
import { positionPath, readStart, savePosition } from '../../../src/cli/tail/position-file.ts';
import { joinFiles } from '../../../src/cli/verify/join.ts';
import { createTail } from '../../../src/tail/engine.ts';
import type { Summary } from '../../../src/tail/notice.ts';
import { EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import { createDriver } from './driver.ts';
import { createEndlessFeed, numberOf, type Trouble } from './feed.ts';

export interface MonthPlan {
  readonly seed: number;
  readonly lengthMs: number;
  readonly via: 'ws' | 'poll';
  readonly lagMs: number;
  readonly postMs: number;
  readonly rotate: RotateRule;
  /** The mean time between two incidents of each kind. */
  readonly troubleMs: number;
  /** The age of the oldest post that the service has in pages. */
  readonly retentionMs: number;
  /** The folder of the files. */
  readonly folder: string;
}

export interface MonthOutcome {
  readonly problems: readonly string[];
  readonly posts: number;
  /** The number of missing posts inside a reported gap. */
  readonly lost: number;
  readonly gaps: number;
  readonly files: number;
  readonly starts: number;
  readonly pages: number;
}

const common = ['pages', 'lose', 'double', 'close', 'kill', 'step', 'rename'] as const;
const ofStreams = ['mute', 'silent', 'quota', 'outage'] as const;
type Kind = (typeof common)[number] | (typeof ofStreams)[number];

/** Something that happens during a simulated month; times are in virtual milliseconds. */
interface Incident {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

const isTrouble = (incident: Incident): incident is Incident & Trouble =>
  incident.kind !== 'kill' && incident.kind !== 'step' && incident.kind !== 'rename';

/** The virtual time at which the first process starts. */
const START_MS = 600_000;

/** Random incidents of each kind. There are none in the last minutes, so that everything can be read. */
function incidentsOf({ seed, via, lengthMs, troubleMs, retentionMs }: MonthPlan): Incident[] {
  const rng = rngOf(seed, 7);
  const lengths: Partial<Record<Kind, readonly [least: number, most: number]>> = {
    ...{ pages: [1_000, 200_000], mute: [60_000, 600_000] },
    outage: [retentionMs + 120_000, 1.5 * retentionMs],
  };
  const incidents: Incident[] = [];
  for (const kind of via === 'ws' ? [...common, ...ofStreams] : common) {
    const [least, most] = lengths[kind] ?? [500, 60_000];
    for (let from = START_MS; ; ) {
      from += rng.between(0.5, 1.5) * Math.max(troubleMs, 3 * most);
      const to = from + rng.between(least, most);
      if (to > START_MS + lengthMs - 340_000) break;
      incidents.push({ kind, from, to });
    }
  }
  return incidents.sort((a, b) => a.from - b.from);
}

/** The post times between which a reported gap lies. */
interface Hole {
  readonly from: number;
  readonly to: number;
}

/** Runs a tail with its real files through virtual time, and checks that each post is in them exactly once. */
export async function runMonth(plan: MonthPlan): Promise<MonthOutcome> {
  const { seed, lengthMs, via, folder, rotate, postMs, retentionMs } = plan;
  const driver = createDriver();
  const { scheduler, track } = driver;
  const rng = rngOf(seed, 8);
  const incidents = incidentsOf(plan);
  const troubles = incidents.filter(isTrouble);
  const sockets = { open: 0 };
  const out = join(folder, 'theses.ndjson');
  const path = positionPath({ out, checkpoint: undefined }) ?? '';
  const endsAt = START_MS + lengthMs;
  /** How often each post is in the files, by its number. */
  const counts = new Map<number, number>();
  const problems: string[] = [];
  const problem = (text: string) => {
    if (problems.length < 10) problems.push(text);
  };
  const gaps: Hole[] = [];
  const certified: CertifiedFile[] = [];
  let pages = 0;
  let starts = 0;
  let files = 0;

  /** Counts the posts of a file, and reads its certificate. */
  const take = (path: string, isAway = false) => {
    certified.push(certifiedFile(path));
    const text = readFileSync(path, 'utf8');
    if (!isAway && text !== '' && !text.endsWith('\n')) problem(`${basename(path)} ends in a torn line`);
    // Skip an incomplete last line. If the file was renamed before the next run could repair it, the line was
    // written again to another file.
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      if (line === '') continue;
      const number = numberOf(JSON.parse(line).id);
      counts.set(number, (counts.get(number) ?? 0) + 1);
    }
  };
  /** Takes and removes all finished files except the newest `most`. */
  const sweep = (most: number) => {
    for (const { path } of finishedFiles(out).slice(most)) {
      take(path);
      files++;
      rmSync(path);
    }
  };

  /** Runs one process until it is killed or ends; returns whether it ended. */
  async function runProcess(): Promise<boolean> {
    starts++;
    const life = driver.openProcess();
    const { clock } = life;
    const feed = createEndlessFeed(seed, scheduler, troubles, () => life.alive, {
      ...{ postMs, sockets, retentionMs },
    });
    const known = readStart({
      ...{ out, checkpoint: undefined, feed: 'month' },
      ...{ timeField: 'platformCreatedAt', notice() {} },
    });
    const { position, place: from } = resumeLines(out, known, {});
    let saved = position;
    const file = await track(
      openFollowed(out, {
        mono: clock.mono,
        now: clock.now,
        rotate: { rule: rotate, timeField: 'platformCreatedAt' },
        from,
        certify: (path, place) => saved && certify(path, saved, place),
        moved(how) {
          tail.touch();
          if (how === 'finished') sweep(6);
        },
      }),
    );
    const check = () => {
      if (!life.alive) return;
      void track(file.check());
      scheduler.at(scheduler.now + 5 * postMs, check);
    };
    check();
    let safe = { ino: '', size: 0 };
    const kills = incidents.filter(({ kind, from }) => kind === 'kill' && from > scheduler.now);
    const undo = kills.slice(0, 1).map(({ from }) => scheduler.at(from, life.kill));
    const tail = createTail(
      {
        clock,
        random: rng.next,
        source: feed.source,
        connect: feed.connect,
        sink: {
          write(rows) {
            for (const { raw, record, at } of rows) {
              file.saw(at);
              const text = raw === null ? JSON.stringify(record) : Buffer.from(raw).toString();
              void file.sink.write(`${text}\n`);
            }
            return track(file.sink.flush().then(() => true));
          },
          flush: () =>
            track(
              file.sink.flush().then(() => {
                safe = { ino: file.place().ino, size: statSync(out, { throwIfNoEntry: false })?.size ?? 0 };
                return true;
              }),
            ),
          place: file.place,
        },
        spent: () => ({ cu: 0, atMost: 0 }),
        save: async (given) => {
          const { verified } = given;
          const old = given.ids.filter(([, at]) => at !== null && verified !== null && at <= verified).length;
          if (old > 100) problem(`the position has the ids of ${old} verified posts`);
          savePosition(path, { ...given, filters: {} });
          saved = { ...given, filters: {} };
        },
      },
      {
        ...{ via, lagMs: plan.lagMs, feed: 'month' },
        start: position ? { kind: 'position', position } : { kind: 'now' },
        durationMs: endsAt - scheduler.now,
        on(notice) {
          if (notice.kind !== 'gap' || notice.open) return;
          const { from, to } = notice;
          gaps.push({ from: from ?? Number.NEGATIVE_INFINITY, to: to ?? EPOCH + scheduler.now });
        },
      },
    );
    const ran: Promise<Summary | undefined> = tail.run(new AbortController().signal);
    ran.catch(() => {});
    let failed = false;
    const summary = await Promise.race([ran, life.killed]).catch((error: unknown) => {
      // The first pages of a run fail, or the units are used up: a service manager starts it again.
      if (!(error instanceof Failure) || !['service', 'quota'].includes(error.kind)) throw error;
      failed = true;
      return undefined;
    });
    for (const spare of undo) spare();
    pages += feed.pages;
    const ended = life.alive;
    life.kill();
    await track(file.sink.finish('discarded'));
    if (failed) return false;
    if (ended) {
      if (summary?.gaps.some(({ open }) => open)) problem(`open gaps: ${JSON.stringify(summary.gaps)}`);
      return true;
    }
    // A power failure cuts off a part of the text that was written last but not synced.
    const there = statSync(out, { throwIfNoEntry: false });
    if (!there) return false;
    const { size, ino } = there;
    const text = readFileSync(out, 'utf8');
    const lineStart = text.lastIndexOf('\n', text.length - 2) + 1;
    const isSafe = safe.ino === String(ino) && lineStart < safe.size;
    if (size > 0 && !isSafe && rng.chance(0.5))
      truncateSync(out, lineStart + 1 + rng.int(text.length - lineStart - 1));
    return false;
  }

  async function supervise(): Promise<void> {
    await driver.pause(START_MS);
    for (const { kind, from } of incidents) {
      if (kind === 'step') scheduler.at(from, () => (driver.skew = rng.between(-600_000, 600_000)));
      if (kind === 'rename') scheduler.at(from, () => renameSync(out, `${out}.${Math.round(from)}`));
    }
    while (!(await runProcess())) await driver.pause(30_000);
  }

  if (!(await driver.run(supervise))) problem('everything waits, and nothing will happen');
  sweep(0);
  for (const { kind, from } of incidents) {
    const renamed = `${out}.${Math.round(from)}`;
    if (kind === 'rename' && existsSync(renamed)) take(renamed, true);
  }
  take(out, true);
  // The certificates vouch for everything from the start to the last verification, except in the reported gaps.
  const proof = joinFiles(certified);
  for (const { file, status } of proof.files)
    if (status === 'changed' || status === 'no certificate') problem(`${basename(file)}: ${status}`);
  const vouched = { from: proof.from ?? 0, to: proof.to ?? 0 };
  const isWithin = (at: number, { from, to }: Hole) => at >= from && at <= to;
  const feed = createEndlessFeed(seed, scheduler, [], () => false, { postMs });
  // Each post since the first printed one must be in the files exactly once. The first ones may be dated before the start.
  const end = Math.floor(endsAt / postMs);
  const first = [...counts.keys()].reduce((least, number) => Math.min(least, number), end);
  let [posts, lost] = [0, 0];
  for (let number = 0; number < end; number++) {
    const at = EPOCH + feed.timeOf(number);
    const count = counts.get(number) ?? 0;
    posts += count;
    if (count > 1) problem(`post ${number} is there ${count} times`);
    if (count > 0) continue;
    if (isWithin(at, vouched) && !proof.gaps.some((gap) => isWithin(at, gap)))
      problem(`post ${number} is missing, but vouched for`);
    if (number <= first + START_MS / 5 / postMs || feed.visibleAt(number) >= endsAt - 2_000) continue;
    if (gaps.some((gap) => isWithin(at, gap))) lost++;
    else problem(`post ${number} is missing`);
  }
  for (const { from, to } of proof.gaps)
    if (!gaps.some((gap) => from >= gap.from && to <= gap.to))
      problem(`from ${from - EPOCH} to ${to - EPOCH}, nothing is vouched for`);
  if (vouched.to < EPOCH + endsAt - 400_000) problem(`vouched for only up to ${vouched.to - EPOCH}`);
  // Only what the service deleted during an outage may be lost.
  const outages = incidents.filter(({ kind }) => kind === 'outage');
  const deleted = outages.reduce((sum, { from, to }) => sum + to - from - retentionMs + 300_000, 0) / postMs;
  if (lost > deleted) problem(`${lost} posts are in reported gaps, and the service deleted ${deleted}`);
  return { problems, posts, lost, gaps: gaps.length, files, starts, pages };
}

type CertifiedFile = Parameters<typeof joinFiles>[0][number];

/** A file with its certificate, as `trdr verify` compares them. */
function certifiedFile(file: string): CertifiedFile {
  const found = certificateAt(file);
  const certificate = found === 'damaged' ? undefined : found;
  const { rows = 0, digest } = certificate?.lines ?? {};
  const lines = readFileSync(file).toString('latin1').split('\n').slice(0, rows);
  const count = new LineCount();
  for (const line of lines) count.add(Buffer.from(`${line}\n`, 'latin1'));
  const isSame = !certificate || (count.digest.rows === rows && count.digest.digest === digest);
  return { file, certificate, rows, duplicates: 0, problems: isSame ? [] : ['changed'] };
}
