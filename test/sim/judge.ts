import { Failure } from '../../src/base/failure.ts';
import { EPOCH, type Post } from './posts.ts';
import { above } from './service.ts';
import type { Outcome, Process } from './world.ts';
import { LONG_AUDIT_MS, passes, verifiableTime } from './world.ts';

/** The maximum lag of pages. Posts that became visible in this last part of a run need not be verified yet. */
const UNSETTLED_MS = 30_000;

/** The violations of the tail's guarantees in an outcome; empty if there are none. */
export function judge(outcome: Outcome): string[] {
  const problems: string[] = [];
  const { schedule, service, processes, disk } = outcome;
  const byId = new Map(service.posts.map((post) => [post.id, post]));
  const emitted = disk.lines.map(({ id }) => id);
  const last = processes.at(-1);
  if (!last) return ['no process ran'];

  for (const id of emitted) {
    const post = byId.get(id);
    if (!post) problems.push(`${id} was never posted`);
    else if (!passes(schedule, post.symbol)) problems.push(`${id} does not pass the filter`);
  }
  problems.push(...duplicates(outcome, emitted));
  problems.push(...lost(outcome, new Set(emitted), byId, last));
  problems.push(...outcome.falseClaims.slice(0, 5), ...unclaimed(outcome));
  for (const process of processes) {
    problems.push(...order(process, byId));
    if (!process.killed) problems.push(...orderly(outcome, process));
  }
  return problems;
}

/**
 * Duplicate rows. They are allowed only after a crash between a flush and its checkpoint, after a run that ended while
 * its output was blocked, or after a failed command.
 */
function duplicates({ schedule, processes }: Outcome, emitted: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const id of emitted) times.set(id, (times.get(id) ?? 0) + 1);
  const excused = new Set(processes.flatMap(({ failed }) => [...failed]));
  if (schedule.resume === 'checkpoint') {
    for (const process of processes) {
      if (!process.killed && !process.isBlocked) continue;
      for (const write of process.writes.slice(process.savedWrites))
        for (const { id } of write) excused.add(id);
    }
  }
  return [...times]
    .filter(([id, n]) => n > 1 && !excused.has(id))
    .map(([id, n]) => `${id} was written ${n} times`);
}

/** Posts that are missing from the output, and posts from before the start that it should not contain. */
function lost(
  outcome: Outcome,
  emitted: ReadonlySet<string>,
  byId: ReadonlyMap<string, Post>,
  last: Process,
): string[] {
  const { schedule, service, processes, endsAt } = outcome;
  const fresh = processes.filter((process) => process.fresh && process.access.first);
  // Once a process has written a post, later ones must continue there.
  const began = fresh.find(({ writes }) => writes.length > 0) ?? fresh.at(-1);
  const start = began?.access.first;
  if (!start) return [];
  const problems: string[] = [];
  const oldest = endsAt - LONG_AUDIT_MS - schedule.lagMs - UNSETTLED_MS;
  const calm = last.failure === undefined && last.endedAt >= endsAt;
  const verified = last.summary?.verified ?? null;
  const hasFailed = last.failure !== undefined && !last.killed;
  const verifiedAt = (hasFailed ? last.endedAt : (last.verifiedAt ?? 0)) - (calm ? 0 : UNSETTLED_MS);

  if (calm && (last.verifiedAt ?? 0) < oldest) problems.push(`nothing was verified after ${last.verifiedAt}`);
  // A process that has lost its position says so, and does not vouch for older posts than those it continues from.
  const assumed = processes.filter(({ isAssumed }) => isAssumed);
  const again =
    schedule.position === 'lost' ? processes.filter((process) => process.fresh && process !== began) : [];
  const vouched = Math.max(
    ...assumed.map(({ resumed }) => resumed?.verified ?? Number.POSITIVE_INFINITY),
    ...again.map((process) => startOf(schedule, process)),
  );
  for (const post of service.posts) {
    const held = start.held.has(post.id);
    if (
      held &&
      assumed.length === 0 &&
      schedule.start.kind === 'now' &&
      emitted.has(post.id) &&
      !earlier(processes, post.id)
    ) {
      problems.push(`${post.id} was posted before the start`);
    }
    if (held || emitted.has(post.id) || !passes(schedule, post.symbol)) continue;
    if (post.old || post.nameless || post.goneAt !== Number.POSITIVE_INFINITY || post.visibleAt > verifiedAt)
      continue;
    if ((start.top && post.sortAt <= start.top.sortAt) || post.sortAt <= vouched) continue;
    if (schedule.start.kind === 'since' && post.sortAt < startOf(schedule, began)) continue;
    // What was not verified when a failure ended the run must be reported. After other ends, it does not count.
    if (!calm && (verified === null || (post.sortAt > verified && !hasFailed))) continue;
    if (inGap(outcome, post)) continue;
    problems.push(
      `${post.id} was lost (posted at ${Math.round(post.sortAt - EPOCH)}, visible ${Math.round(post.visibleAt)})`,
    );
  }
  problems.push(...dropped(outcome, emitted, byId, start.held));
  problems.push(...lostBackfill(outcome, emitted, start.held));
  return problems;
}

/** The post time from which on a process without a position reads; -Infinity if it read no page that shows this. */
function startOf({ start }: Outcome['schedule'], { access, beganAt }: Process): number {
  if (start.kind === 'since') return EPOCH + beganAt - start.ago;
  return access.first ? (access.first.top?.sortAt ?? Number.POSITIVE_INFINITY) : Number.NEGATIVE_INFINITY;
}

/** Posts whose frames the tail received but did not write. */
function dropped(
  { schedule, processes }: Outcome,
  emitted: ReadonlySet<string>,
  byId: ReadonlyMap<string, Post>,
  held: ReadonlySet<string>,
): string[] {
  const process = processes.at(-1);
  if (!process || processes.length > 1 || process.killed || process.failure !== undefined) return [];
  return [...process.access.handed]
    .filter((id) => !emitted.has(id) && !held.has(id) && passes(schedule, byId.get(id)?.symbol))
    .map((id) => `${id} was received but not written`);
}

/** Whether a process that was killed has written this row. Its rows stay in the output. */
const earlier = (processes: readonly Process[], id: string) =>
  processes.some(
    ({ writes, killed }) => killed && writes.some((write) => write.some((row) => row.id === id)),
  );

/** Posts that the backfill should have written. */
function lostBackfill(outcome: Outcome, emitted: ReadonlySet<string>, held: ReadonlySet<string>): string[] {
  const { schedule, service, processes } = outcome;
  const disturbed = schedule.faults.some(({ kind }) =>
    ['evict', 'hollow', 'repeat', 'stale', 'last'].includes(kind),
  );
  if (schedule.start.kind === 'now' || disturbed || schedule.ceiling !== null || processes.length > 1)
    return [];
  if (schedule.timeless || schedule.odd > 0 || processes[0]?.failure !== undefined) return [];
  const past = service.posts.filter(({ id }) => held.has(id));
  const { start } = schedule;
  const from = start.kind === 'since' ? EPOCH - start.ago : 0;
  const wanted =
    start.kind === 'backfill' ? past.slice(0, start.rows) : past.filter(({ sortAt }) => sortAt >= from);
  // Posts that appeared between two pages of the backfill take the places of older ones.
  const top = processes[0]?.access.first?.top;
  const written = service.posts.filter((post) => emitted.has(post.id) && top && !above(post, top));
  const isFull = (post: Post) =>
    start.kind === 'backfill' && written.filter((other) => above(other, post)).length >= start.rows;
  return wanted
    .filter(
      ({ id, goneAt, symbol, nameless }) =>
        !nameless && goneAt === Number.POSITIVE_INFINITY && !emitted.has(id) && passes(schedule, symbol),
    )
    .filter((post) => !isFull(post))
    .map(({ id }) => `${id} of the backfill was lost`);
}

/** Whether a post is in a reported gap. What the next run reads is not a gap, so only the last run may leave it. */
function inGap({ processes }: Outcome, { sortAt }: Post): boolean {
  const unread = (processes.at(-1)?.notices ?? []).flatMap((notice) =>
    notice.kind === 'gap' && notice.open ? [notice] : [],
  );
  return [...processes.flatMap(({ summary }) => summary?.gaps ?? []), ...unread].some(
    ({ from, to }) => (from === null || sortAt >= from) && (to === null || sortAt <= to),
  );
}

/** What was verified, but is not claimed by the last position of the processes that ended. */
function unclaimed({ processes, schedule, service }: Outcome): string[] {
  return processes.flatMap(({ saved, summary, resumed, access, notices, failure, endedAt }) => {
    if (!saved || !summary || failure !== undefined) return [];
    const { coverage, verified } = saved;
    const problems: string[] = [];
    if (verified !== summary.verified)
      problems.push(`${summary.verified} is verified, but ${verified} is claimed`);
    const held = access.first?.held;
    const skipped = service.posts.flatMap((post) => (held?.has(post.id) ? (verifiableTime(post) ?? []) : []));
    const start =
      resumed?.coverage?.after ??
      (schedule.start.kind === 'since'
        ? EPOCH + endedAt - summary.durationMs - schedule.start.ago
        : Math.max(...skipped));
    if (coverage && (coverage.after ?? 0) > start + 1 && !resumed)
      problems.push(`the claim begins at ${coverage.after}, and the run at ${start}`);
    const reported = notices.filter((notice) => notice.kind === 'gap' && !notice.open).length;
    const before = resumed?.coverage?.gaps.length ?? 0;
    if (coverage && coverage.gaps.length > before + reported) problems.push('a gap was not reported');
    return problems;
  });
}

/**
 * Rows of one walk must be written oldest first. If a cursor was rejected, rows are read again from another one; a post
 * that has appeared among them meanwhile is read after older ones.
 */
function order({ writes, access }: Process, byId: ReadonlyMap<string, Post>): string[] {
  for (const write of writes) {
    for (let i = 1; i < write.length; i++) {
      const [one, next] = [write[i - 1], write[i]];
      if (!one?.paged || !next?.paged) continue;
      const [a, b] = [byId.get(one.id), byId.get(next.id)];
      if (!a || !b || above(b, a) || (access.hasRejected && a.visibleAt > b.visibleAt)) continue;
      return [`${a.id} was written before the older ${b.id}`];
    }
  }
  return [];
}

const FINAL: ReadonlySet<string> = new Set(['auth', 'forbidden', 'quota', 'usage', 'missing']);

/** Whether the service has a reason to end a run. */
const isDue = ({ faults, units }: Outcome['schedule']) =>
  (units ?? 1e9) < 1e9 ||
  faults.some(({ kind }) => kind === 'refuse' || kind === 'quota' || kind === 'policy');

/** A process that was not killed must leave no waits behind and must report its cost correctly. */
function orderly({ schedule }: Outcome, process: Process): string[] {
  const problems: string[] = [];
  const { summary, access, left, failure } = process;
  if (failure instanceof Failure && FINAL.has(failure.kind) && !isDue(schedule))
    problems.push(`ended by ${failure.code}, which the service did not send`);
  if (left > 0) problems.push(`${left} waits remain`);
  if (!summary) return [...problems, 'no summary'];
  const meter = access.meter.pages + access.meter.socket;
  const { cu: least, atMost: most } = summary.spent;
  if (meter < least - 1 || meter > most + 1)
    problems.push(`the meter shows ${meter}, the tail reports ${least} to ${most}`);
  if (access.meter.socket === 0 && access.meter.lost === 0 && least !== meter) {
    problems.push(`the pages cost ${meter}, the tail counted ${least}`);
  }
  for (const { from, to } of summary.gaps) {
    if (to === null && process.failure === undefined)
      problems.push('a gap at the end of a run that succeeded');
    if (from !== null && to !== null && to <= from) problems.push(`a gap from ${from} to ${to}`);
  }
  if (schedule.ceiling !== null && meter > schedule.ceiling)
    problems.push(`${meter} is above the spending limit ${schedule.ceiling}`);
  return problems;
}
