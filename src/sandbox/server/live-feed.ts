import type { ThesisFrameData } from '../../contract/records/thesis.ts';
import type { SandboxClock } from '../clock.ts';
import type { Faults } from '../faults/engine.ts';
import { exponential, randomOf } from '../random.ts';
import type { World } from '../world/types.ts';

/** A post on its way to the sockets: its frame is made once for all. */
export interface Outgoing {
  readonly id: string;
  readonly tokenAddress: string | null;
  readonly text: string;
}

/** The live feed: posts arrive, go into the pages, and out to whoever listens. */
export interface Feed {
  /** One post now: the world's next, or the one given. */
  post(given?: ThesisFrameData): ThesisFrameData;
  listen(listener: (post: Outgoing) => void): () => void;
  /** Posts a minute from now on; 0 ends them. */
  setRate(perMinute: number): void;
  /** Plays a recording, its posts moved to the present. */
  play(recording: readonly ThesisFrameData[], speed: number): void;
  readonly posted: number;
}

export function createFeed(world: World, clock: SandboxClock, faults: Faults, seed: number): Feed {
  const listeners = new Set<(post: Outgoing) => void>();
  const random = randomOf(seed, 'posts');
  const randomCalls = randomOf(seed, 'callouts');
  let calledOff: (() => void)[] = [];
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
    const made = given ?? world.theses.post(now);
    posted++;
    let announceAt = now;
    for (const { what, ms } of faults.draw('post', 'ws')) {
      const then = now + Math.round(ms);
      if (what.kind === 'late' || what.kind === 'lag') world.theses.withhold(made.id, then);
      if (what.kind === 'late') announceAt = Math.max(announceAt, then);
      if (what.kind === 'vanish') clock.at(then, () => world.theses.remove(made.id));
    }
    if (announceAt > now) clock.at(announceAt, () => announce(made));
    else announce(made);
    return made;
  }

  /** Repeats `event` as a Poisson process; its next time is drawn from the last, so that no delay adds up. */
  function repeat(event: () => void, meanMs: number, draw: () => number): () => void {
    let cancel = () => {};
    const arm = (from: number) => {
      const next = from + exponential(draw, meanMs);
      cancel = clock.at(Math.ceil(next), () => {
        event();
        // After a jump of the clock the past is not made up for.
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
      for (const cancel of calledOff) cancel();
      calledOff = [];
      if (perMinute <= 0) return;
      const mean = 60_000 / perMinute;
      calledOff.push(repeat(() => post(), mean, random));
      // The launchpad is the quieter place.
      calledOff.push(repeat(() => world.launchpad.postCallout(clock.now()), mean * 4, randomCalls));
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
        calledOff = [
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

/** A recorded post as if it were written now: what had happened since its writing happens as much later. */
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
