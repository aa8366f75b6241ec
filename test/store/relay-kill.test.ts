import { describe, expect, it } from 'vitest';
import { randomOf, seedOf } from '../e2e/feed.ts';
import { withSandbox } from '../e2e/harness.ts';
import { disasters, startFeedFleet } from './feed-fleet.ts';
import { hasServer } from './program.ts';
import { startServer } from './server.ts';

/** Number of disasters; higher in a long run. */
const ROUNDS = Number(process.env['STORE_ROUNDS'] ?? 6);
const open = { unmetered: true, ratePerMinute: 600_000, burstPerSecond: 100_000, theses: 50 } as const;

describe.skipIf(!hasServer())('a fleet on one feed', () => {
  it(`gives followers every post once, through ${ROUNDS} kills, pauses, power failures and losses of the whole store`, {
    timeout: 60_000 + ROUNDS * 30_000,
  }, async () => {
    const seed = seedOf();
    const [random, server, sandbox] = [
      randomOf(seed),
      await startServer(),
      await withSandbox({ ...open, seed }),
    ];
    const fleet = await startFeedFleet({ sandbox, server, random, seed });
    for (let round = 0; round < ROUNDS; round++) {
      await fleet.suffer(disasters[round % disasters.length] ?? 'leader', round);
    }
    await fleet.finish();
    expect(fleet.posting.ids.length).toBeGreaterThan(0);
  });
});
