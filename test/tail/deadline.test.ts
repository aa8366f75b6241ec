import { expect, test } from 'vitest';
import { createTail } from '../../src/tail/engine.ts';
import type { FeedPage, PageSource } from '../../src/tail/ports.ts';
import { tailRow } from '../../src/tail/post-row.ts';
import { type VirtualClock, virtualClock } from '../core/virtual-clock.ts';

const START = Date.UTC(2026, 0, 1);

/** Runs a tail for 5 s, which must end with a failure. */
async function runBriefly(page: (clock: VirtualClock) => PageSource['page'], isBlocked = false) {
  const clock = virtualClock(START);
  const tail = createTail(
    {
      clock,
      random: () => 0.5,
      source: { page: page(clock), sizes: { step: 20, max: 20 }, stepCu: 200 },
      spent: () => ({ cu: 0, atMost: 0 }),
      sink: {
        write: () => (isBlocked ? new Promise<never>(() => {}) : true),
        flush: async () => true,
      },
    },
    { start: { kind: 'since', at: 0 }, via: 'poll', lagMs: 1_000, durationMs: 5_000, feed: 'f' },
  );
  return tail.run(new AbortController().signal);
}

/** A page of 20 posts, which are older than those of the pages before it. */
function nthPage(n: number, hasMore: boolean): FeedPage {
  const rows = Array.from({ length: 20 }, (_, i) => {
    const at = START - (20 * n + i) * 1_000;
    return tailRow({ id: `t${at}`, at }, 'at');
  }).filter((row) => row !== null);
  return { rows, hasMore, nextBefore: rows.at(-1)?.id ?? null };
}

test('reports that the service did not answer if no page arrived since the end of --duration', async () => {
  const silent = runBriefly(
    () => (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  );
  await expect(silent).rejects.toMatchObject({
    code: 'UNANSWERED',
    message: 'the service did not answer before the end of the run',
  });
});

test('suggests a longer --duration if pages arrived, but too slowly', async () => {
  let pages = 0;
  const slow = runBriefly((clock) => async (_, signal) => {
    await clock.sleep(1_000, signal);
    return nthPage(pages++, true);
  });
  await expect(slow).rejects.toMatchObject({
    code: 'UNANSWERED',
    message: 'the run ended before all pages of the feed were read',
    hint: 'run the command again with a longer --duration',
  });
});

test('reports a blocked output', async () => {
  const blocked = runBriefly(() => async () => nthPage(0, false), true);
  await expect(blocked).rejects.toMatchObject({ code: 'BLOCKED' });
});
