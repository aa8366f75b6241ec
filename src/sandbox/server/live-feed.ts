import type { ThesisFrameData } from '../../contract/records/thesis.ts';
import type { SandboxClock } from '../clock.ts';
import type { Faults } from '../faults/engine.ts';
import { exponential, randomOf } from '../random.ts';
import type { World } from '../world/types.ts';

/** A post with the text of its frame, which is the same for all connections. */
export interface FramedPost {
  readonly id: string;
  readonly tokenAddress: string | null;
  readonly text: string;
}

/** Publishes live posts in pages and on WebSockets. */
export interface LiveFeed {
  /** Publishes a post now: the given post, or the next post of the world. */
  post(given?: ThesisFrameData): ThesisFrameData;
  listen(listener: (post: FramedPost) => void): () => void;
  /** Sets the number of generated posts per minute, and ends a replay; 0 stops all posts. */
  setRate(perMinute: number): void;
  /** Replays a recording as if it began now. */
  play(recording: readonly ThesisFrameData[], speed: number): void;
  readonly posted: number;
}

export function createLiveFeed(world: World, clock: SandboxClock, faults: Faults, seed: number): LiveFeed {
  const listeners = new Set<(post: FramedPost) => void>();
  const random = randomOf(seed, 'posts');
  const randomCallouts = randomOf(seed, 'callouts');
  let cancels: (() => void)[] = [];
  let posted = 0;

  function announce(post: ThesisFrameData) {
    if (listeners.size === 0) return;
    const text = JSON.stringify({ type: 'thesis', data: post });
    for (const listener of listeners)
      listener({ id: post.id, tokenAddress: post.tokenAddress ?? null, text });
  }

  function post(given?: ThesisFrameData): ThesisFrameData {
    const now = clock.now();
    if (given) world.theses.add(given);
    const published = given ?? world.theses.post(now);
    posted++;
    let announceAt = now;
    for (const { fault, ms } of faults.trigger('post', 'ws')) {
      const then = now + Math.round(ms);
      if (fault.kind === 'late' || fault.kind === 'lag') world.theses.withhold(published.id, then);
      if (fault.kind === 'late') announceAt = Math.max(announceAt, then);
      if (fault.kind === 'vanish') clock.at(then, () => world.theses.remove(published.id));
    }
    if (announceAt > now) clock.at(announceAt, () => announce(published));
    else announce(published);
    return published;
  }

  /**
   * Repeats `event` as a Poisson process. Each time is computed from the previous planned time, so that
   * delays do not add up.
   */
  function repeat(event: () => void, meanMs: number, source: () => number): () => void {
    let cancel = () => {};
    const arm = (from: number) => {
      const next = from + exponential(source, meanMs);
      cancel = clock.at(Math.ceil(next), () => {
        event();
        // If the clock was set forward, skip the events of the skipped time.
        arm(Math.max(next, clock.now() - 1_000));
      });
    };
    arm(clock.now());
    return () => cancel();
  }

  return {
    post,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setRate(perMinute) {
      for (const cancel of cancels) cancel();
      cancels = [];
      if (perMinute <= 0) return;
      const mean = 60_000 / perMinute;
      cancels.push(repeat(() => post(), mean, random));
      // The launchpad has fewer posts than the thesis feed.
      cancels.push(repeat(() => world.launchpad.postCallout(clock.now()), mean * 4, randomCallouts));
    },
    play(recording, speed) {
      const posts = recording.toSorted((one, other) => timeOf(one) - timeOf(other));
      const [first] = posts;
      if (!first) return;
      const start = clock.now();
      const dueOf = (recorded: ThesisFrameData) =>
        Math.round(start + (timeOf(recorded) - timeOf(first)) / speed);
      const next = (at: number) => {
        const recorded = posts[at];
        if (!recorded) return;
        const due = dueOf(recorded);
        cancels = [
          clock.at(due, () => {
            post(movedTo(due, recorded));
            next(at + 1);
          }),
        ];
      };
      next(0);
    },
    get posted() {
      return posted;
    },
  };
}

const timeOf = ({ platformCreatedAt }: ThesisFrameData) => platformCreatedAt ?? 0;

/** Sets the post time of a recorded post to now. Other timestamps move by the same amount. */
function movedTo(now: number, recorded: ThesisFrameData): ThesisFrameData {
  const shift = now - timeOf(recorded);
  const { closedAt, updatedAt } = recorded;
  return {
    ...recorded,
    platformCreatedAt: now,
    ...(typeof closedAt === 'number' ? { closedAt: closedAt + shift } : {}),
    ...(typeof updatedAt === 'number' ? { updatedAt: updatedAt + shift } : {}),
  };
}
