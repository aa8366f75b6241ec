import { numberOf } from './feed.ts';

/**
 * Checks what a command received. It must receive every post at least once. Only what was acknowledged shortly before a kill,
 * or not at all, may be repeated. A batch may arrive only after every earlier batch was acknowledged or became a dead letter.
 */
export interface HandoffJudge {
  readonly problems: readonly string[];
  readonly counts: { readonly attempts: number; readonly repeated: number; readonly dead: number };
  problem(text: string): void;
  /** Called when a new process begins. */
  start(): void;
  /** Called when the command is started with these posts. */
  attempt(ids: readonly string[]): void;
  /** Called when the command has processed these posts, whatever its exit code will be. */
  process(ids: readonly string[]): void;
  /** Called when the attempt has ended and the tail knows the result. */
  ended(ok: boolean, now: number): void;
  /** Called when a process has ended, or was killed. */
  over(now: number): void;
  dead(ids: readonly string[]): void;
  /** Checks that nothing is missing; returns the number of posts. */
  finish(end: number, isWanted: (number: number) => boolean): number;
}

/** The position is saved this soon after an acknowledgement. */
const UNSAVED_MS = 2_000;

/** By how much a late post can be older than a post that was handed over before it. */
const SLACK_MS = 600_000;
/** So long after the first one, posts may be dated before the start. */
const EARLY_MS = 120_000;

/** `postMs` is the time between two posts. */
export function createHandoffJudge(postMs: number): HandoffJudge {
  const problems: string[] = [];
  const seen = new Set<number>();
  let current: readonly string[] = [];
  /** Posts that were handed over but not acknowledged. No other post may be repeated. */
  const open = new Set<string>();
  /** The latest acknowledged batches, and those of them that may be repeated because their process was killed. */
  let recent: { readonly ids: readonly string[]; readonly at: number }[] = [];
  const unsaved = new Set<string>();
  let isRetry = false;
  let newest = 0;
  let [attempts, repeated, dead] = [0, 0, 0];
  const problem = (text: string) => {
    if (problems.length < 10) problems.push(text);
  };

  const settle = (ids: readonly string[]) => {
    for (const id of ids) open.delete(id);
    isRetry = false;
  };

  return {
    problems,
    get counts() {
      return { attempts, repeated, dead };
    },
    problem,
    start() {
      isRetry = false;
    },
    attempt(ids) {
      attempts++;
      if (isRetry && ids.join() !== current.join())
        problem(`another batch follows a failed one at ${ids[0]}`);
      if (new Set(ids).size < ids.length) problem(`a batch has a post twice: ${ids}`);
      for (const id of ids) {
        const number = numberOf(id);
        if (!seen.has(number)) {
          if (number < newest - SLACK_MS / postMs) problem(`${id} comes after ${newest}`);
        } else if (open.has(id) || unsaved.has(id)) repeated++;
        else problem(`${id} is repeated although it was acknowledged`);
      }
      // A new process may divide the posts into other batches, but must not skip the unacknowledged posts.
      const newestOf = (some: Iterable<string>) => Math.max(...[...some].map(numberOf));
      if (open.size > 0 && !ids.some((id) => open.has(id)) && newestOf(ids) > newestOf(open))
        problem(`${ids[0]} comes before ${[...open][0]}, which was not acknowledged`);
      for (const id of ids) open.add(id);
      current = ids;
      isRetry = true;
    },
    process(ids) {
      for (const id of ids) {
        seen.add(numberOf(id));
        newest = Math.max(newest, numberOf(id));
      }
    },
    ended(ok, now) {
      if (!ok) return;
      settle(current);
      recent = [...recent.filter(({ at }) => now - at < UNSAVED_MS), { ids: current, at: now }];
    },
    over(now) {
      for (const { ids, at } of recent) if (now - at < UNSAVED_MS) for (const id of ids) unsaved.add(id);
      recent = [];
    },
    dead(ids) {
      dead += ids.length;
      for (const id of ids) seen.add(numberOf(id));
      settle(ids);
    },
    finish(end, isWanted) {
      const first = [...seen].reduce((least, number) => Math.min(least, number), end);
      let posts = 0;
      for (let number = first; number < end; number++) {
        if (seen.has(number)) posts++;
        else if (number > first + EARLY_MS / postMs && isWanted(number)) problem(`post ${number} is missing`);
      }
      return posts;
    },
  };
}
