import { Failure } from '../../src/base/failure.ts';
import { judgeConfluences } from './confluences.ts';
import { judgeCooldown } from './cooldowns.ts';
import { EPOCH, type Post } from './posts.ts';
import { above } from './service.ts';
import { LONG_AUDIT_MS, type Outcome, type Process, passes, verifiableTime } from './world.ts';

/** The maximum lag of pages. Posts that became visible in this last part of a run need not be verified yet. */
const UNSETTLED_MS = 30_000;

/** The violations of the tail's guarantees in an outcome; empty if there are none. */
export function judge(outcome: Outcome): string[] {
  const problems: string[] = [];
  const { schedule, service, processes, disk } = outcome;
  const last = processes.at(-1);
  if (!last) return ['no process ran'];
  const byId = new Map(service.posts.map((post) => [post.id, post]));
  const { rule, cooldown } = schedule;
  if (rule) problems.push(...judgeConfluences(outcome, rule, byId));
  else if (cooldown) problems.push(...judgeCooldown(outcome, cooldown, byId));
  else {
    const emitted = disk.lines.map(({ id }) => id);
    for (const id of emitted) {
      const post = byId.get(id);
      if (!post) problems.push(`${id} was never posted`);
      else if (!passes(schedule, post.symbol)) problems.push(`${id} does not pass the filter`);
    }
    problems.push(...duplicates(outcome, emitted), ...lost(outcome, new Set(emitted), byId));
    problems.push(...outcome.problems.slice(0, 5));
    for (const process of processes) problems.push(...order(process, byId, schedule.desk === true));
  }
  problems.push(...unverified(outcome, last), ...unclaimed(outcome));
  for (const process of processes) if (!process.killed) problems.push(...orderly(outcome, process));
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
): string[] {
  const { schedule, service, processes } = outcome;
  const start = beginningOf(processes)?.access.first;
  if (!start) return [];
  const { held } = start;
  const isEarly = ({ id }: Post) => held.has(id) && emitted.has(id) && !earlier(processes, id);
  // Where only single posts have a time, and that a wrong one, nothing shows which posts are older than the start.
  const isOrdered = !schedule.timeless || schedule.odd === 0;
  const early =
    schedule.start.kind === 'now' && isOrdered && !processes.some(({ isAssumed }) => isAssumed)
      ? service.posts.filter(isEarly).map(({ id }) => `${id} was posted before the start`)
      : [];
  const missing = duePosts(outcome)
    .filter(({ id }) => !emitted.has(id))
    .map(
      ({ id, sortAt, visibleAt }) =>
        `${id} was lost (posted at ${Math.round(sortAt - EPOCH)}, visible ${Math.round(visibleAt)})`,
    );
  return [
    ...early,
    ...missing,
    ...dropped(outcome, emitted, byId, held),
    ...lostBackfill(outcome, emitted, held),
  ];
}

/** The process whose start counts. Once a process has written a post, later ones must continue there. */
function beginningOf(processes: readonly Process[]): Process | undefined {
  const fresh = processes.filter((process) => process.fresh && process.access.first);
  // What a process wrote to a blocked output may have left no trace.
  return fresh.find(({ writes, isBlocked }) => writes.length > 0 && !isBlocked) ?? fresh.at(-1);
}

/** Whether the last process ran to the end. */
const isCalm = (last: Process, { endsAt }: Outcome) =>
  last.failure === undefined && last.endedAt >= endsAt;

/** The posts that the output must contain. */
export function duePosts(outcome: Outcome): Post[] {
  const { schedule, service, processes } = outcome;
  const began = beginningOf(processes);
  const start = began?.access.first;
  const last = processes.at(-1);
  if (!start || !last) return [];
  const calm = isCalm(last, outcome);
  const verified = last.summary?.verified ?? null;
  const hasFailed = last.failure !== undefined && !last.killed;
  const verifiedAt =
    (hasFailed ? last.endedAt : (last.verifiedAt ?? 0)) - (calm ? 0 : UNSETTLED_MS);
  // A process that has lost its position says so, and does not vouch for older posts than those it continues from.
  const assumed = processes.filter(({ isAssumed }) => isAssumed);
  const again =
    schedule.position === 'lost'
      ? processes.filter((process) => process.fresh && process !== began)
      : [];
  const vouched = Math.max(
    start.top?.sortAt ?? Number.NEGATIVE_INFINITY,
    ...assumed.map(({ resumed }) => resumed?.verified ?? Number.POSITIVE_INFINITY),
    ...again.map((process) => startOf(schedule, process)),
  );
  // A process that was killed has reported its gaps, too. What the next run reads is not a gap, so only the last run may leave it.
  const gaps = processes.flatMap((process) =>
    process.notices.flatMap((notice) =>
      notice.kind === 'gap' && (!notice.open || process === last) ? [notice] : [],
    ),
  );
  const oldest = oldestOfBackfill(outcome, began);
  return service.posts.filter((post) => {
    const { id, symbol, old, nameless, goneAt, visibleAt, sortAt } = post;
    if (start.held.has(id) || !passes(schedule, symbol)) return false;
    if (oldest && id !== oldest.id && !above(post, oldest)) return false;
    if (old || nameless || goneAt !== Number.POSITIVE_INFINITY) return false;
    if (visibleAt > verifiedAt || sortAt <= vouched) return false;
    if (schedule.start.kind === 'since' && sortAt < startOf(schedule, began)) return false;
    // What was not verified when a failure ended the run must be reported. After other ends, it does not count.
    if (!calm && (verified === null || (sortAt > verified && !hasFailed))) return false;
    return !gaps.some(
      ({ from, to }) => (from === null || sortAt >= from) && (to === null || sortAt <= to),
    );
  });
}

/**
 * The post from which on a backfill must be complete. Where pages were cut short, its walk begins again, and counts the
 * posts that are the newest ones then.
 */
function oldestOfBackfill({ schedule, service }: Outcome, { writes }: Process): Post | undefined {
  if (schedule.start.kind !== 'backfill' || !isCutShort(schedule)) return undefined;
  return service.posts.find(({ id }) => id === writes[0]?.[0]?.id);
}

/** Whether the last process verified the feed until shortly before its end. */
function unverified(outcome: Outcome, last: Process): string[] {
  const at = last.verifiedAt ?? 0;
  const oldest = outcome.endsAt - LONG_AUDIT_MS - outcome.schedule.lagMs - UNSETTLED_MS;
  // A process that began shortly before the end has not verified anything yet.
  const isLate = isCalm(last, outcome) && Math.max(at, last.beganAt) < oldest;
  return isLate && beginningOf(outcome.processes) ? [`nothing was verified after ${at}`] : [];
}

/** The post time from which on a process without a position reads; -Infinity if it read no page that shows this. */
function startOf({ start }: Outcome['schedule'], { access, beganAt }: Process): number {
  if (start.kind === 'since') return EPOCH + beganAt - start.ago;
  return access.first
    ? (access.first.top?.sortAt ?? Number.POSITIVE_INFINITY)
    : Number.NEGATIVE_INFINITY;
}

/** Posts whose frames the tail received but did not write. */
function dropped(
  { schedule, processes }: Outcome,
  emitted: ReadonlySet<string>,
  byId: ReadonlyMap<string, Post>,
  held: ReadonlySet<string>,
): string[] {
  const process = processes.at(-1);
  if (!process || processes.length > 1 || process.killed || process.failure !== undefined)
    return [];
  return [...process.access.handed]
    .filter((id) => !emitted.has(id) && !held.has(id) && passes(schedule, byId.get(id)?.symbol))
    .map((id) => `${id} was received but not written`);
}

/** Whether a process that was killed has written this row. Its rows stay in the output. */
const earlier = (processes: readonly Process[], id: string) =>
  processes.some(
    ({ writes, killed }) => killed && writes.some((write) => write.some((row) => row.id === id)),
  );

/** Whether pages may end early: a walk then gives up what is below, and a backfill begins later. */
const isCutShort = ({ faults }: Outcome['schedule']) =>
  faults.some(({ kind }) => ['evict', 'hollow', 'repeat', 'stale', 'last'].includes(kind));

/** Posts that the backfill should have written. */
function lostBackfill(
  outcome: Outcome,
  emitted: ReadonlySet<string>,
  held: ReadonlySet<string>,
): string[] {
  const { schedule, service, processes } = outcome;
  if (
    schedule.start.kind === 'now' ||
    isCutShort(schedule) ||
    schedule.ceiling !== null ||
    processes.length > 1
  )
    return [];
  if (schedule.timeless || schedule.odd > 0 || processes[0]?.failure !== undefined) return [];
  const past = service.posts.filter(({ id }) => held.has(id));
  const { start } = schedule;
  const from = start.kind === 'since' ? EPOCH - start.ago : 0;
  const wanted =
    start.kind === 'backfill'
      ? past.slice(0, start.rows)
      : past.filter(({ sortAt }) => sortAt >= from);
  // Posts that appeared between two pages of the backfill take the places of older ones.
  const top = processes[0]?.access.first?.top;
  const written = service.posts.filter((post) => emitted.has(post.id) && top && !above(post, top));
  const isFull = (post: Post) =>
    start.kind === 'backfill' && written.filter((other) => above(other, post)).length >= start.rows;
  return wanted
    .filter(
      ({ id, goneAt, symbol, nameless }) =>
        !nameless &&
        goneAt === Number.POSITIVE_INFINITY &&
        !emitted.has(id) &&
        passes(schedule, symbol),
    )
    .filter((post) => !isFull(post))
    .map(({ id }) => `${id} of the backfill was lost`);
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
    const skipped = service.posts.flatMap((post) =>
      held?.has(post.id) ? (verifiableTime(post) ?? []) : [],
    );
    const start =
      resumed?.coverage?.after ??
      (schedule.start.kind === 'since'
        ? EPOCH + endedAt - summary.durationMs - schedule.start.ago
        : Math.max(...skipped));
    const mayBeginLater = schedule.start.kind === 'backfill' && isCutShort(schedule);
    if (coverage && (coverage.after ?? 0) > start + 1 && !resumed && !mayBeginLater)
      problems.push(`the claim begins at ${coverage.after}, and the run at ${start}`);
    const reported = notices.filter((notice) => notice.kind === 'gap' && !notice.open).length;
    const before = resumed?.coverage?.gaps.length ?? 0;
    if (coverage && coverage.gaps.length > before + reported)
      problems.push('a gap was not reported');
    return problems;
  });
}

/**
 * Rows of one walk must be written oldest first. If a cursor was rejected, rows are read again from another one; so are
 * those of a feed whose pages are merged. A post that has appeared among them meanwhile is read after older ones.
 */
function order(
  { writes, access }: Process,
  byId: ReadonlyMap<string, Post>,
  isMerged: boolean,
): string[] {
  for (const write of writes) {
    for (let i = 1; i < write.length; i++) {
      const [one, next] = [write[i - 1], write[i]];
      if (!one?.paged || !next?.paged) continue;
      const [a, b] = [byId.get(one.id), byId.get(next.id)];
      // Where pages are merged, posts of one millisecond, or without a usable time, have no order.
      const times = [a, b].map((post) => post && verifiableTime(post));
      if (isMerged && (times[0] === times[1] || times.includes(null))) continue;
      if (
        !a ||
        !b ||
        above(b, a) ||
        ((access.hasRejected || isMerged) && a.visibleAt > b.visibleAt)
      )
        continue;
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
  // A service may charge seconds, but the tail counts a minute that has begun in full.
  if (access.meter.pages + access.meter.begun < least - 1 || meter > most + 1)
    problems.push(
      `the meter shows ${meter} (minutes ${access.meter.begun}), the tail reports ${least} to ${most}`,
    );
  if (access.meter.begun === 0 && access.meter.lost === 0 && least !== meter) {
    problems.push(`the pages cost ${meter}, the tail counted ${least}`);
  }
  for (const { from, to } of summary.gaps) {
    // If no row above the gap has a time, the gap has no upper bound.
    if (to === null && process.failure === undefined && !schedule.timeless)
      problems.push('a gap at the end of a run that succeeded');
    if (from !== null && to !== null && to <= from) problems.push(`a gap from ${from} to ${to}`);
  }
  if (schedule.ceiling !== null && meter > schedule.ceiling)
    problems.push(`${meter} is above the spending limit ${schedule.ceiling}`);
  return problems;
}
