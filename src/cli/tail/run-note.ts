import { resolve } from 'node:path';
import { quietly } from '../../base/calls.ts';
import { sha256 } from '../../base/sha256.ts';
import type { TailRunRecord } from '../../contract/records/tail-run.ts';
import { TailRunFile } from '../../state/tail-runs.ts';
import { every } from '../../tail/every.ts';
import type { TailFacts } from '../../tail/health.ts';
import type { Io, RunEnd } from '../io.ts';
import type { Context } from '../run/context.ts';
import { spentNow, stateWords } from './notice-text.ts';

/**
 * A tail saves its position in a file as rarely; until it has started, people wait for its state.
 */
const SAVE_MS = 10_000;
const START_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A feed in words states only the number of more authors or tokens than this. */
const MOST_NAMES = 3;

/** What a run is, and what is known of it now. */
export interface NotedRun {
  readonly feed: string;
  readonly output: string;
  readonly facts: () => TailFacts;
}

/** Notes the state of a run for "trdr tails" until it has ended. */
export function noteRun({ terminal, settings, out }: Context, run: NotedRun): void {
  const { io } = terminal;
  const { state } = settings.folders;
  if (state === undefined) return;
  const note = new RunNote(io, state, {
    command: settings.command,
    profile: settings.profile,
    output: run.output,
    feed: run.feed,
    pid: process.pid,
    startedAt: io.clock.now(),
  });
  const save = (end?: RunEnd) => {
    const why = out.diskWait.failure?.message;
    const facts = run.facts();
    quietly(() => note.save(why === undefined ? facts : { ...facts, mode: 'waiting' }, why, end));
    return facts.ready || facts.waitsUntil !== null;
  };
  let hasStarted = save();
  const stopSaving = every(
    io.clock,
    () => (hasStarted ? SAVE_MS : START_MS),
    () => {
      hasStarted = save();
    },
  );
  io.atEnd.add(async (end) => {
    await stopSaving();
    save(end);
    note.release();
  });
}

type Identity = Pick<
  TailRunRecord,
  'command' | 'profile' | 'output' | 'feed' | 'pid' | 'startedAt'
>;

/**
 * The record of a run, with what only a look back shows: its posts in an hour and its cost in a
 * day.
 */
class RunNote {
  readonly #now: () => number;
  readonly #about: Identity;
  readonly #file: TailRunFile;
  /** The posts delivered at earlier times, of the last hour. */
  readonly #counts: { readonly at: number; readonly rows: number }[] = [];
  #day: number;
  /**
   * What is not of this day in the cost of the run; negative if earlier runs have cost something
   * today.
   */
  #before: number;
  #spent = 0;

  constructor(io: Io, state: string, about: Identity) {
    const now = about.startedAt;
    // The same line in the same folder is the same tail, which a service manager may have started
    // again.
    const identity = sha256(JSON.stringify([io.argv, io.cwd]));
    this.#now = io.clock.now;
    this.#about = about;
    this.#file = new TailRunFile(state, identity, now);
    this.#day = Math.floor(now / DAY_MS);
    this.#before = -this.#file.cuBefore;
  }

  save(facts: TailFacts, blocked: string | undefined, end: RunEnd | undefined): void {
    const now = this.#now();
    this.#file.save({
      ...this.#about,
      state: end ? 'ended' : facts.mode,
      words: end ? endWords(end) : stateWords(facts, blocked),
      verifiedAt: facts.verified,
      postsPerHour: this.#postsPerHour(facts.rows, now),
      rows: facts.rows,
      cuToday: this.#today(spentNow(facts.spent), now),
      ...leftOf(facts),
      updatedAt: now,
      endedAt: end ? now : null,
      exit: end?.exit ?? null,
      reason: end?.reason ?? null,
    });
  }

  release(): void {
    this.#file.release();
  }

  #postsPerHour(rows: number, now: number): number | null {
    const counts = this.#counts;
    counts.push({ at: now, rows });
    while (counts[1] !== undefined && counts[1].at < now - HOUR_MS) counts.shift();
    const [first] = counts;
    if (first === undefined || now - first.at < MINUTE_MS) return null;
    return Math.round(((rows - first.rows) * HOUR_MS) / (now - first.at));
  }

  #today(spent: number, now: number): number {
    const day = Math.floor(now / DAY_MS);
    if (day !== this.#day) {
      this.#day = day;
      this.#before = this.#spent;
    }
    this.#spent = spent;
    return spent - this.#before;
  }
}

/** What is left of the limit that ends first. */
function leftOf({ budgets, limitLeft }: TailFacts): Pick<TailRunRecord, 'left' | 'leftOf'> {
  const limits = budgets.map(({ left, period = 'all' }) => ({ left, leftOf: period }));
  if (limitLeft !== null) limits.push({ left: limitLeft, leftOf: 'run' });
  const [least] = limits.toSorted((one, other) => one.left - other.left);
  return least ?? { left: null, leftOf: null };
}

function endWords({ exit, reason }: RunEnd): string {
  if (exit === 0) return 'ended';
  return reason.startsWith('SIG') ? `stopped by ${reason}` : `failed: ${reason} (exit ${exit})`;
}

/** Where the posts of a run go. */
export function outputOf(cwd: string, out: string | undefined, exec: string | undefined): string {
  if (out !== undefined) return resolve(cwd, out);
  return exec === undefined ? 'stdout' : 'command';
}

/** A feed in words: whose posts, about what. */
export function feedWords(posts: string, by: readonly string[], about: readonly string[]): string {
  const some = (names: readonly string[], many: string) =>
    names.length > MOST_NAMES ? `${names.length} ${many}` : names.join(', ');
  const authors = by.length === 0 ? '' : ` by ${some(by, 'authors')}`;
  const tokens = about.length === 0 ? '' : ` about ${some(about, 'tokens')}`;
  return `${posts}${authors}${tokens}`;
}
