// Runs the program in this process, on a terminal of a given width, against an embedded service with a manual clock: the same
// seed and time always give the same output.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { load, root } from './bundle.mjs';

// Must be set before the first date is formatted.
process.env.TZ = 'UTC';

/** A weekday at noon in the middle of a month. */
const NOON = Date.UTC(2026, 4, 15, 12);

/** Starts the service; `play(line, options)` returns what a command line writes to stdout. */
export async function openStage() {
  const [{ run }, { createInFlight }, { startSandbox }, { manualClock }] = await Promise.all([
    load('src/cli/run.ts'),
    load('src/core/client/in-flight.ts'),
    load('test/sandbox/service.ts'),
    load('test/sandbox/clock.ts'),
  ]);
  const home = mkdtempSync(join(tmpdir(), 'trdr-stage-'));
  const time = manualClock(NOON);
  const service = await startSandbox({ seed: 1, plan: 'scale', clock: time });
  const clock = {
    now: () => time.now(),
    mono: () => time.now(),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const off = time.at(time.now() + ms, resolve);
        signal?.addEventListener('abort', () => {
          off();
          reject(signal.reason);
        });
        if (signal?.aborted) reject(signal.reason);
      }),
  };
  const env = {
    HOME: home,
    TRDR_CONFIG_DIR: join(home, 'config'),
    TRDR_STATE_DIR: join(home, 'state'),
    TRDR_CACHE_DIR: join(home, 'cache'),
    TRDR_BASE_URL: service.url,
    TRDR_API_KEY: service.key,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };

  /** Moves the time and publishes posts until the command has ended. */
  async function post(until) {
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    while (!until() && service.sockets.size === 0) await turn();
    while (!until()) {
      // Let the program read what was sent, and only then move the time.
      for (let turns = 0; turns < 200; turns++) await turn();
      await time.advance(1_700);
      service.post();
    }
  }

  return {
    /**
     * Runs a command line, given as its words without `trdr` and `--sandbox`. With `terminal: false`, stdout is a
     * pipe. With `isNext`, it knows what the line before has paid for.
     */
    async play(
      words,
      { columns = 80, terminal = true, color = false, live = false, isNext = false } = {},
    ) {
      const stream = () =>
        Object.assign(new PassThrough(), terminal ? { isTTY: true, columns } : {});
      const [stdout, stderr] = [stream(), new PassThrough()];
      const parts = [];
      const messages = [];
      stdout.on('data', (part) => parts.push(part));
      stderr.on('data', (part) => messages.push(part));
      // What one command line shows must not depend on answers that another one has cached.
      if (!isNext) {
        rmSync(env.TRDR_CACHE_DIR, { recursive: true, force: true });
        rmSync(join(env.TRDR_STATE_DIR, 'people'), { recursive: true, force: true });
      }
      let over = false;
      const ended = run({
        argv: words,
        env: { ...env, ...(color ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' }) },
        stdin: Object.assign(new PassThrough(), { setRawMode() {} }),
        stdout,
        stderr,
        cwd: root,
        platform: 'linux',
        clock,
        random: () => 0.5,
        signal: new AbortController().signal,
        inFlight: createInFlight(clock),
        atEnd: new Set(),
        atExit: new Set(),
      }).finally(() => {
        over = true;
      });
      if (live) await post(() => over);
      const code = await ended;
      await new Promise((resolve) => setImmediate(resolve));
      if (code !== 0)
        throw new Error(`trdr ${words.join(' ')} exited with ${code}: ${Buffer.concat(messages)}`);
      return Buffer.concat(parts).toString('utf8');
    },
    async close() {
      await service.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
