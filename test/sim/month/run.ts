import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Failure } from '../../../src/base/failure.ts';
import { Tail } from '../../../src/tail/engine.ts';
import { certificateAt, resumeLines } from '../../../src/tail/file/certify.ts';
import { FileWriter } from '../../../src/tail/file/file-writer.ts';
import { FollowedFile } from '../../../src/tail/file/followed-file.ts';
import { LineCount } from '../../../src/tail/file/line-count.ts';
import { positionPath } from '../../../src/tail/file/position-file.ts';
import { Positions } from '../../../src/tail/file/positions.ts';
import { readStart } from '../../../src/tail/file/read-start.ts';
import { finishedFiles, type RotateRule } from '../../../src/tail/file/rotation.ts';
import type { Summary } from '../../../src/tail/notice.ts';
import { type Compared, joinFiles } from '../../../src/verify/join.ts';
import { calmMs, EPOCH } from '../posts.ts';
import { rngOf } from '../rng.ts';
import { calm, type Fault } from '../schedule.ts';
import { createService } from '../service.ts';
import { createDriver } from './driver.ts';

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
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** What an incident of the service, the connection or the machine consists of; kills, steps and renames are done by the run. */
const incidentKinds = {
  pages: (span) => [{ kind: 'fault', p: 1, ...span }],
  lose: (span) => [{ kind: 'lose', p: 0.5, ...span }],
  double: (span) => [{ kind: 'double', p: 1, ...span }],
  close: (span) => [{ kind: 'close', ...span }],
  kill: () => [],
  step: () => [],
  rename: () => [],
  // Connections carry no posts.
  mute: (span) => [
    { kind: 'forget', ...span },
    { kind: 'mute', ...span },
  ],
  // A connection falls silent without an end.
  silent: (span) => [{ kind: 'half', ...span }],
  // The units are used up.
  quota: (span) => [
    { kind: 'policy', ...span },
    { kind: 'quota', ...span },
  ],
  // Nothing works for so long that unread posts leave the pages.
  outage: (span) => [
    { kind: 'reset', ...span },
    { kind: 'refuse', status: 503, ...span },
    { kind: 'fault', p: 1, ...span },
  ],
} as const satisfies Readonly<Record<string, (span: Span) => readonly Fault[]>>;
type Kind = keyof typeof incidentKinds;
const onlyOfStreams: readonly Kind[] = ['mute', 'silent', 'quota', 'outage'];

/** Something that happens during a simulated month; times are in virtual milliseconds. */
interface Incident extends Span {
  readonly kind: Kind;
}

/** Random incidents of each kind. There are none in the last minutes, so that everything can be read. */
function incidentsOf({ seed, via, lengthMs, troubleMs, retentionMs }: MonthPlan): Incident[] {
  const rng = rngOf(seed, 7);
  const lengths: Partial<Record<Kind, readonly [least: number, most: number]>> = {
    ...{ pages: [1_000, 200_000], mute: [60_000, 600_000] },
    outage: [retentionMs + 120_000, 1.5 * retentionMs],
  };
  const incidents: Incident[] = [];
  for (const kind of Object.keys(incidentKinds) as Kind[]) {
    if (via !== 'ws' && onlyOfStreams.includes(kind)) continue;
    const [least, most] = lengths[kind] ?? [500, 60_000];
    for (let from = 0; ; ) {
      from += rng.between(0.5, 1.5) * Math.max(troubleMs, 3 * most);
      const to = from + rng.between(least, most);
      if (to > lengthMs - 340_000) break;
      incidents.push({ kind, from, to });
    }
  }
  return incidents.sort((a, b) => a.from - b.from);
}

/** A service manager starts a process again after this time. */
const restartMs = 30_000;

/** Runs a tail with its real files through virtual time, and checks that each post is in them exactly once. */
export async function runMonth(plan: MonthPlan): Promise<MonthOutcome> {
  const { seed, lengthMs, via, folder, rotate, postMs, retentionMs } = plan;
  const driver = createDriver();
  const { scheduler, track } = driver;
  const rng = rngOf(seed, 8);
  const incidents = incidentsOf(plan);
  const lags = { via, lagMs: plan.lagMs };
  const schedule = calm(seed, {
    ...{ ...lags, retentionMs, rate: 1_000 / postMs, late: 0.02, busyMs: lengthMs - calmMs(lags) },
    faults: incidents.flatMap(({ kind, ...span }): readonly Fault[] => incidentKinds[kind](span)),
  });
  const service = createService(schedule, scheduler);
  const out = join(folder, 'theses.ndjson');
  const path = positionPath({ out, checkpoint: undefined }) ?? '';
  /** How often each post is in the files. */
  const counts = new Map<string, number>();
  const problems: string[] = [];
  const problem = (text: string) => {
    if (problems.length < 10) problems.push(text);
  };
  /** The post times between which reported gaps lie. */
  const gaps: Span[] = [];
  const certified: CertifiedFile[] = [];
  let starts = 0;
  let files = 0;
  /** What of the current file is on disk, whichever process wrote it. */
  let safe = { ino: '', size: 0 };

  /** Counts the posts of a file, and reads its certificate. */
  const take = (path: string, isAway = false) => {
    certified.push(certifiedFile(path));
    const text = readFileSync(path, 'utf8');
    if (!isAway && text !== '' && !text.endsWith('\n'))
      problem(`${basename(path)} ends in a torn line`);
    // Skip an incomplete last line. If the file was renamed before the next run could repair it, the line was
    // written again to another file.
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      if (line === '') continue;
      const { id } = JSON.parse(line);
      counts.set(id, (counts.get(id) ?? 0) + 1);
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
    const { source, connect } = service.access(
      () => life.alive,
      () => {},
    );
    const known = readStart({
      ...{ out, checkpoint: undefined, feed: 'month' },
      ...{ timeField: 'platformCreatedAt', notice() {} },
    });
    const { position, place: from } = resumeLines(out, known, {});
    const saving = { path, certified: { out, isElsewhere: false }, filters: {} };
    const positions = new Positions(saving, position);
    const file = await track(
      FollowedFile.open(out, {
        mono: clock.mono,
        now: clock.now,
        rotate: { rule: rotate, timeField: 'platformCreatedAt' },
        from,
        certify: (path, place) => positions.certify(path, place),
        moved(how) {
          tail.saveSoon();
          if (how === 'finished') sweep(6);
        },
      }),
    );
    const writer = new FileWriter(
      {
        write: (record) => void file.sink.write(`${JSON.stringify(record)}\n`),
        writeRaw: (json) => void file.sink.write(`${Buffer.from(json)}\n`),
        flush: () => file.sink.flush(),
        end: async () => {},
        closed: file.sink.closed,
      },
      { hide() {}, paused: () => undefined },
      file,
      true,
    );
    const check = () => {
      if (!life.alive) return;
      void track(file.check());
      scheduler.at(scheduler.now + 5 * postMs, check);
    };
    check();
    const kills = incidents.filter(({ kind, from }) => kind === 'kill' && from > scheduler.now);
    const undo = kills.slice(0, 1).map(({ from }) => scheduler.at(from, life.kill));
    const tail = new Tail(
      {
        clock,
        random: rng.next,
        source: { ...source, stepCu: 200 },
        connect,
        output: {
          writer: {
            write: (rows) => track(Promise.resolve(writer.write(rows))),
            flush: () =>
              track(
                writer.flush().then((isOpen) => {
                  safe = {
                    ino: file.place().ino,
                    size: statSync(out, { throwIfNoEntry: false })?.size ?? 0,
                  };
                  return isOpen;
                }),
              ),
            place: () => writer.place(),
          },
          save: async (given) => {
            const { verified } = given;
            const old = given.ids.filter(
              ([, at]) => at !== null && verified !== null && at <= verified,
            ).length;
            if (old > 100) problem(`the position has the ids of ${old} verified posts`);
            positions.save(given);
          },
        },
        spent: () => ({ cu: 0, atMost: 0 }),
      },
      {
        ...{ via, lagMs: plan.lagMs, feed: 'month' },
        start: position ? { kind: 'position', position } : { kind: 'now' },
        durationMs: lengthMs - scheduler.now,
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
    const ended = life.alive;
    life.kill();
    await track(file.sink.finish('discarded'));
    if (failed) return false;
    if (ended) {
      if (summary?.gaps.some(({ open }) => open))
        problem(`open gaps: ${JSON.stringify(summary.gaps)}`);
      return true;
    }
    breakFiles();
    judgeClaims();
    return false;
  }

  /** What happens to the files of a process that was killed. */
  function breakFiles(): void {
    const there = statSync(out, { throwIfNoEntry: false });
    if (!there || there.size === 0) return;
    const text = readFileSync(out, 'utf8');
    const lineStart = text.lastIndexOf('\n', text.length - 2) + 1;
    const isSafe = safe.ino === String(there.ino) && lineStart < safe.size;
    // A power failure cuts off a part of the text that was written last but not synced.
    if (!isSafe && rng.chance(0.5))
      truncateSync(out, lineStart + 1 + rng.int(text.length - lineStart - 1));
    // Somebody removes the last lines, or the position: the finished files show where the tail was, unless others follow them.
    const isContinued = finishedFiles(out).some((part) => existsSync(`${part.path}.trdr`));
    // A file under another name, or one that gets it before the next start, shows nothing.
    const isRenamed = incidents.some(
      ({ kind, from }) =>
        kind === 'rename' &&
        from < scheduler.now + restartMs &&
        (from > scheduler.now || existsSync(`${out}.${Math.round(from)}`)),
    );
    if (!isContinued || isRenamed) return;
    const what = rng.pick(['nothing', 'lines', 'position'] as const);
    if (what === 'lines') truncateSync(out, text.slice(0, lineStart).lastIndexOf('\n') + 1);
    if (what === 'position') rmSync(path, { force: true });
  }

  /** At any instant, whatever the certificates vouch for is in the lines that they certify. */
  function judgeClaims(): void {
    const now = [
      ...certified,
      ...finishedFiles(out).map(({ path }) => certifiedFile(path)),
      ...(existsSync(out) ? [certifiedFile(out)] : []),
    ];
    const proof = joinFiles(now);
    const isVouched = ({ at }: { readonly at: number }) =>
      at >= (proof.from ?? 0) &&
      at <= (proof.to ?? 0) &&
      !proof.gaps.some((gap) => isWithin(at, gap));
    const ids = new Set(now.flatMap((file) => file.ids));
    for (const { id, at } of service.posts)
      if (at !== null && isVouched({ at }) && !ids.has(id))
        problem(`${id} is vouched for at ${Math.round(scheduler.now)}, but in no certified line`);
  }

  async function supervise(): Promise<void> {
    for (const { kind, from } of incidents) {
      if (kind === 'step') scheduler.at(from, () => (driver.skew = rng.between(-600_000, 600_000)));
      if (kind === 'rename')
        scheduler.at(from, () => renameSync(out, `${out}.${Math.round(from)}`));
    }
    while (!(await runProcess())) await driver.pause(restartMs);
  }

  await driver.run(supervise());
  sweep(0);
  for (const { kind, from } of incidents) {
    const renamed = `${out}.${Math.round(from)}`;
    if (kind === 'rename' && existsSync(renamed)) take(renamed, true);
  }
  take(out, true);
  // The certificates vouch for everything from the start to the last verification, except in the reported gaps.
  const proof = joinFiles(certified);
  for (const { file, status } of proof.files)
    if (status === 'changed' || status === 'no certificate')
      problem(`${basename(file)}: ${status}`);
  const vouched = { from: proof.from ?? 0, to: proof.to ?? 0 };
  // Each post since the first printed one must be in the files exactly once. The first ones may be dated before the start.
  const dated = service.posts.map((post) => ({ ...post, at: post.at ?? 0 })).reverse();
  const first = dated.find(({ id }) => counts.has(id))?.at ?? Number.POSITIVE_INFINITY;
  let [posts, lost] = [0, 0];
  for (const { id, at, visibleAt } of dated) {
    const count = counts.get(id) ?? 0;
    posts += count;
    if (count > 1) problem(`${id} is there ${count} times`);
    if (count > 0) continue;
    if (isWithin(at, vouched) && !proof.gaps.some((gap) => isWithin(at, gap)))
      problem(`${id} is missing, but vouched for`);
    if (at <= first + 120_000 || visibleAt >= lengthMs - 2_000) continue;
    if (gaps.some((gap) => isWithin(at, gap))) lost++;
    else problem(`${id} is missing`);
  }
  for (const { from, to } of proof.gaps)
    if (!gaps.some((gap) => from >= gap.from && to <= gap.to))
      problem(`from ${from - EPOCH} to ${to - EPOCH}, nothing is vouched for`);
  if (vouched.to < EPOCH + lengthMs - 400_000)
    problem(`vouched for only up to ${vouched.to - EPOCH}`);
  // Only what the service deleted during an outage may be lost.
  const outages = incidents.filter(({ kind }) => kind === 'outage');
  const deleted =
    outages.reduce((sum, { from, to }) => sum + to - from - retentionMs + 300_000, 0) / postMs;
  if (lost > deleted)
    problem(`${lost} posts are in reported gaps, and the service deleted ${deleted}`);
  return { problems, posts, lost, gaps: gaps.length, files, starts };
}

const isWithin = (at: number, { from, to }: Span) => at >= from && at <= to;

interface CertifiedFile extends Compared {
  /** The posts in the lines that the certificate covers. */
  readonly ids: readonly string[];
}

/** A file with its certificate, as `trdr verify` compares them. */
function certifiedFile(file: string): CertifiedFile {
  const found = certificateAt(file);
  const certificate = found === 'damaged' ? undefined : found;
  const { rows = 0, digest } = certificate?.lines ?? {};
  const lines = readFileSync(file).toString('latin1').split('\n').slice(0, rows);
  const count = new LineCount();
  for (const line of lines) count.add(Buffer.from(`${line}\n`, 'latin1'));
  const isSame = !certificate || (count.digest.rows === rows && count.digest.digest === digest);
  const ids = isSame
    ? lines.flatMap((line) => (line === '' ? [] : String(JSON.parse(line).id)))
    : [];
  return { file, certificate, rows, duplicates: 0, problems: isSame ? [] : ['changed'], ids };
}
