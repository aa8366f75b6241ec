import type { Thesis, ThesisFrameData } from '../contract/records/thesis.ts';
import { fateOfPost } from './faults/effects.ts';
import { exponential, type Random, randomOf } from './random.ts';
import type { SandboxState } from './state.ts';

/** @internal Exported for tests. */
export function publishPost(sandbox: SandboxState, thesis?: ThesisFrameData): ThesisFrameData {
  const { world, clock, faults, counts } = sandbox;
  const now = clock.now();
  const post = world.addThesis(now, thesis);
  counts.posts++;
  const { announceMs, hiddenMs, sellMs, vanishMs } = fateOfPost(faults.trigger('post', 'ws'));
  if (hiddenMs !== undefined) world.theses().withhold(post.id, now + hiddenMs);
  if (sellMs !== undefined)
    clock.at(now + sellMs, () => world.theses().change(post.id, (held) => sold(held, clock.now())));
  if (vanishMs !== undefined) clock.at(now + vanishMs, () => world.theses().remove(post.id));
  if (announceMs > 0) clock.at(now + announceMs, () => announce(sandbox, post));
  else announce(sandbox, post);
  return post;
}

/** The PnL becomes final when the position is closed. */
function sold(post: Thesis, now: number): Thesis {
  if (typeof post.closedAt === 'number') return post;
  const realizedPnlUsd = post.unrealizedPnlUsd ?? post.pnl ?? 0;
  return {
    ...post,
    closedAt: now,
    updatedAt: now,
    pnl: realizedPnlUsd,
    realizedPnlUsd,
    percentageRealizedPnl: post.percentageUnrealizedPnl ?? null,
    unrealizedPnlUsd: null,
    percentageUnrealizedPnl: null,
  };
}

function announce({ sockets }: SandboxState, post: ThesisFrameData): void {
  if (sockets.size === 0) return;
  const text = JSON.stringify({ type: 'thesis', data: post });
  for (const socket of sockets) socket.offer(post.id, post.tokenAddress ?? null, text);
}

/** Publishes posts of its own, so many per minute. */
export function publishPosts(sandbox: SandboxState, perMinute: number): void {
  if (perMinute <= 0) return;
  const { clock, world, seed } = sandbox;
  const mean = 60_000 / perMinute;
  repeat(sandbox, randomOf(seed, 'posts'), mean, () => publishPost(sandbox));
  // The launchpad has fewer posts than the thesis feed.
  repeat(sandbox, randomOf(seed, 'callouts'), mean * 4, () => world.addCallout(clock.now()));
}

/** Each time is computed from the previous planned time, so that delays do not add up. */
function repeat({ clock }: SandboxState, random: Random, meanMs: number, event: () => void): void {
  const arm = (from: number) => {
    const next = from + exponential(random, meanMs);
    clock.at(Math.ceil(next), () => {
      event();
      // If the clock was set forward, skip the events of the skipped time.
      arm(Math.max(next, clock.now() - 1_000));
    });
  };
  arm(clock.now());
}

/** Publishes the posts of a recording; `speed` is a factor of their distances in time. */
export function replay(
  sandbox: SandboxState,
  recording: readonly ThesisFrameData[],
  speed: number,
): void {
  const { clock } = sandbox;
  const posts = recording.toSorted((one, other) => timeOf(one) - timeOf(other));
  const start = clock.now();
  const arm = (at: number) => {
    const first = posts[0];
    const recorded = posts[at];
    if (!first || !recorded) return;
    const due = Math.round(start + (timeOf(recorded) - timeOf(first)) / speed);
    clock.at(due, () => {
      publishPost(sandbox, movedTo(due, recorded));
      arm(at + 1);
    });
  };
  arm(0);
}

const timeOf = ({ platformCreatedAt }: ThesisFrameData) => platformCreatedAt ?? 0;

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
