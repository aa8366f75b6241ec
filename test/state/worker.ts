import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.ts';
import { Failure } from '../../src/base/failure.ts';
import { holdLock, withLock } from '../../src/base/lock.ts';
import { openLedger } from '../../src/state/ledger/ledger.ts';
import { PeopleBook } from '../../src/state/people/book.ts';

const [mode = '', path = '', count = '0', name = ''] = process.argv.slice(2);
const times = Number(count);

const modes: Record<string, () => Promise<void>> = {
  /** Increments a number in a file that only the lock protects. */
  async count() {
    for (let round = 0; round < times; round++) {
      await withLock(`${path}.lock`, () => {
        writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1));
      });
    }
  },
  /** Takes the lock of each path and records it: exactly one process may succeed per path. */
  async claim() {
    process.stdout.write('ready\n');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const start = Date.now() + 20;
    for (let round = 0; round < times; round++) {
      // As simultaneously as possible, to provoke the race.
      while (Date.now() < start + 2 * round);
      const lock = `${path}.${round}.lock`;
      try {
        holdLock(lock, 'the claim');
        appendFileSync(path, `${round}\n`);
      } catch {
        // Ignore the error: another process has the lock.
      }
    }
    process.stdout.write('claimed\n');
    // Waits to be killed, so that no lock is released.
    await new Promise((resolve) => process.stdin.resume().on('end', resolve));
  },
  /**
   * Makes calls that cost 10 or 30 CU, until the daily budget of `times` CU rejects one; then prints the error code. Some
   * calls are lost. If the name is `dies`, the process kills itself during a call.
   */
  async spend() {
    const caps = () => ({ budgetDay: times, budgetMonth: undefined });
    const run = { command: 'c', profile: 'p' };
    const ledger = openLedger(path, run, systemClock, undefined, { caps });
    for (let round = 0; ; round++) {
      try {
        const call = await ledger.begin({ endpoint: 'user.handle', most: 30 });
        if (name === 'dies' && round === 20) process.kill(process.pid, 'SIGKILL');
        if (round % 9 === 8) await call.lose({});
        else await call.settle({ status: 200, cu: round % 3 === 0 ? 30 : 10 });
      } catch (error) {
        process.stdout.write(error instanceof Failure ? error.code : String(error));
        return;
      }
    }
  },
  /** Keeps people in one book and prints each number after the book has confirmed it, until the process is killed. */
  async keep() {
    const notices: string[] = [];
    const notice = (text: string) => void notices.push(text);
    const baseUrl = 'https://api.example.test';
    for (let round = 0; round < times; round++) {
      // A book says once that it keeps nothing.
      const book = new PeopleBook({ dir: path, baseUrl, key: 'k', notice });
      const handle = `${name}-${round}`;
      // One person whom all processes read makes a file grow, so that it is compacted again and again.
      const shared = { time: round, identity: { handle: 'all', twitter: `${name} ${round}` } };
      const record = { handle, bio: 'x'.repeat(500) };
      await book.keep([
        { ...shared, id: 'all', record: { ...record, handle: 'all' } },
        { time: round, id: handle, identity: { handle }, record },
      ]);
      // On a busy machine, the wait for the lock may end before it is free.
      if (notices.splice(0).length === 0) process.stdout.write(`${round}\n`);
    }
  },
  async hold() {
    holdLock(path, name);
    process.stdout.write('held\n');
    setInterval(() => {}, 1_000);
  },
};

await modes[mode]?.();
