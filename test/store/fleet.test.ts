import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { randomOf, seedOf } from '../e2e/feed.ts';
import { hasServer } from './program.ts';
import { startServer } from './server.ts';
import { greatest } from './sliding-window.ts';
import { runWorkers } from './workers.ts';

/** How long a fleet makes calls; longer in a soak test. */
const SECONDS = Number(process.env['STORE_SECONDS'] ?? 10);
const MACHINES = 20;
const LIMIT = Number(process.env['STORE_LIMIT'] ?? 200);
const RESOLVES = 10;
/** The window of the service's rate limit. The machines use a longer one, as in production. */
const WINDOW_MS = 5_000;
const ALLOWED_MS = 8_000;

describe.skipIf(!hasServer())('a fleet of machines', () => {
  it(`stays within ${LIMIT} calls and ${RESOLVES} resolves per window while processes are killed`, {
    timeout: 240_000 + SECONDS * 2_000,
  }, async () => {
    const seed = seedOf();
    const random = randomOf(seed);
    const server = await startServer();
    const arrived = { key: [] as number[], resolve: [] as number[] };
    const service = createServer((request, response) => {
      arrived.key.push(performance.now());
      if (request.url === '/resolve') arrived.resolve.push(performance.now());
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => service.once('listening', resolve));
    onTestFinished(() => void service.close());
    const address = service.address();
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
    const start = await runWorkers(join(server.folder, 'worker.mjs'));
    const fleet = Array.from({ length: MACHINES }, (_, at) =>
      start([server.url, url, `m${at}`, ALLOWED_MS, LIMIT, server.folder]),
    );
    const enough = () => arrived.key.length > LIMIT && arrived.resolve.length >= RESOLVES;
    for (
      const end = performance.now() + SECONDS * 1_000;
      performance.now() < end || !enough();
      await delay(500)
    ) {
      const at = random.between(0, MACHINES);
      fleet[at]?.kill('SIGKILL');
      fleet[at] = start([server.url, url, `m${at}`, ALLOWED_MS, LIMIT, server.folder]);
    }
    for (const child of fleet) child.kill('SIGKILL');
    expect(greatest(arrived.key, WINDOW_MS), `seed ${seed}`).toBeLessThanOrEqual(LIMIT);
    expect(greatest(arrived.resolve, WINDOW_MS), `seed ${seed}`).toBeLessThanOrEqual(RESOLVES);
  });
});
