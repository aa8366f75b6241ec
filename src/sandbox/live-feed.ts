import type { ThesisFrameData } from '../contract/records/thesis.ts';
import { exponential, type Random, randomOf } from './random.ts';
import type { SandboxState } from './state.ts';

/** Publishes a post now, in pages and on sockets: the given post, or the next post of the world. */
export function publishPost(sandbox: SandboxState, given?: ThesisFrameData): ThesisFrameData {
  const { world, clock, faults, counts } = sandbox;
  const now = clock.now();
  const post = world.addThesis(now, given);
  counts.posts++;
  let announceAt = now;
  for (const { kind, ms } of faults.trigger('post', 'ws')) {
    const then = now + ms;
    if (kind === 'late' || kind === 'lag') world.theses().withhold(post.id, then);
    if (kind === 'late') announceAt = Math.max(announceAt, then);
    if (kind === 'vanish') clock.at(then, () => world.theses().remove(post.id));
  }
  if (announceAt > now) clock.at(announceAt, () => announce(sandbox, post));
  else announce(sandbox, post);
  return post;
}

function announce({ sockets }: SandboxState, post: ThesisFrameData): void {
  if (sockets.size === 0) return;
  const text = JSON.stringify({ type: 'thesis', data: post });
  for (const socket of sockets) socket.offer(post.id, post.tokenAddress ?? null, text);
}

/** Sets the number of live posts per minute, and ends a replay; 0 stops all posts. */
export function setRate(sandbox: SandboxState, perMinute: number): void {
  const { clock, world, seed } = sandbox;
  sandbox.cancelPosts();
  sandbox.cancelPosts = () => {};
  if (perMinute <= 0) return;
  const mean = 60_000 / perMinute;
  const cancelTheses = repeat(sandbox, randomOf(seed, 'posts'), mean, () => publishPost(sandbox));
  // The launchpad has fewer posts than the thesis feed.
  const cancelCallouts = repeat(sandbox, randomOf(seed, 'callouts'), mean * 4, () =>
    world.addCallout(clock.now()),
  );
  sandbox.cancelPosts = () => {
    cancelTheses();
    cancelCallouts();
  };
}

/**
 * Repeats `event` as a Poisson process. Each time is computed from the previous planned time, so that delays do
 * not add up.
 */
function repeat({ clock }: SandboxState, random: Random, meanMs: number, event: () => void): () => void {
  let cancel = () => {};
  const arm = (from: number) => {
    const next = from + exponential(random, meanMs);
    cancel = clock.at(Math.ceil(next), () => {
      event();
      // If the clock was set forward, skip the events of the skipped time.
      arm(Math.max(next, clock.now() - 1_000));
    });
  };
  arm(clock.now());
  return () => cancel();
}

/** Replays a recording as if it began now. `speed` is a factor; 1 is the original speed. */
export function replay(sandbox: SandboxState, recording: readonly ThesisFrameData[], speed: number): void {
  const { clock } = sandbox;
  const posts = recording.toSorted((one, other) => timeOf(one) - timeOf(other));
  const start = clock.now();
  const arm = (at: number) => {
    const [first, recorded] = [posts[0], posts[at]];
    if (!first || !recorded) return;
    const due = Math.round(start + (timeOf(recorded) - timeOf(first)) / speed);
    sandbox.cancelPosts = clock.at(due, () => {
      publishPost(sandbox, movedTo(due, recorded));
      arm(at + 1);
    });
  };
  arm(0);
}

const timeOf = ({ platformCreatedAt }: ThesisFrameData) => platformCreatedAt ?? 0;

/** Sets the post time of a recorded post to now. Other timestamps move by the same amount. */
function movedTo(now: number, recorded: ThesisFrameData): ThesisFrameData {
  const shift = now - timeOf(recorded);
  const { closedAt, updatedAt } = recorded;
  return {
    ...recorded,
    platformCreatedAt: now,
    closedAt: closedAt && closedAt + shift,
    updatedAt: updatedAt && updatedAt + shift,
  };
}
