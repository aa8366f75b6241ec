import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openHome, runInProcess, withSandbox } from './harness.ts';

const CEILING = 45_000;
const POSTS = 6;

/** Faults, the possible exit codes of a tail with --count, and the modes to test. */
const faults: readonly (readonly [fault: string, via: 'ws' | 'poll' | 'auto', exits: readonly number[]])[] = [
  ['', 'ws', [0]],
  ['', 'poll', [0]],
  ['drop@ws+3*1', 'ws', [0]],
  ['close@ws+3*1', 'ws', [0]],
  ['dup@ws', 'ws', [0]],
  ['reorder@ws=50%:100ms', 'ws', [0]],
  ['delay@ws=20ms', 'ws', [0]],
  ['html@ws+3*1', 'ws', [0]],
  ['shape@ws+3*1', 'ws', [0]],
  ['withhold@ws+4*1', 'ws', [0]],
  ['halfopen@ws+4*1', 'ws', [0]],
  ['UNAUTHORIZED@ws', 'ws', [4]],
  ['QUOTA_EXCEEDED@ws', 'ws', [6]],
  ['FORBIDDEN_SCOPE@ws', 'ws', [5]],
  ['FORBIDDEN_SCOPE@ws', 'auto', [0]],
  ['OVERLOADED@ws*1', 'ws', [0]],
  ['INTERNAL_ERROR*1', 'poll', [0]],
  ['RATE_LIMITED*1', 'poll', [0]],
  ['cut*1', 'poll', [0]],
  ['lost*1', 'poll', [0]],
  ['reset*1', 'poll', [0]],
  ['html*1', 'poll', [0]],
  ['shape*1', 'poll', [0]],
  ['stall*1', 'poll', [0]],
  ['UNAUTHORIZED@me', 'ws', [4]],
  ['UNAUTHORIZED', 'poll', [4]],
  ['FORBIDDEN_SCOPE', 'poll', [5]],
  ['QUOTA_EXCEEDED', 'poll', [6]],
  ['late=50%:300ms', 'poll', [0]],
  ['vanish=30%:300ms', 'poll', [0]],
];

async function tryOut([fault, via, exits]: (typeof faults)[number]): Promise<void> {
  const sandbox = await withSandbox({ faults: fault, theses: 60, ratePerMinute: 100_000 });
  const home = openHome();
  const posted = new Set<string>();
  const feeding = setInterval(() => posted.add(sandbox.post().id), 300);
  const out = join(home.path, 'rows.ndjson');
  const words = `thesis tail --via ${via} --lag 200ms --backfill 3 --max-cu ${CEILING} --timeout 1s --out ${out}`;
  // A tail that is expected to fail must not end for another reason first.
  const end = exits.includes(0) ? ['--count', String(POSTS), '--duration', '5s'] : [];
  const ran = await runInProcess([...words.split(' '), ...end], { sandbox, home }).finally(() =>
    clearInterval(feeding),
  );
  const shown = `${fault} by ${via}: ${ran.exitCode}\n${ran.stderr}`;
  expect(exits, shown).toContain(ran.exitCode);
  expect(ran.stderr, shown).not.toMatch(/BUG|\n\s+at |TypeError|RangeError/);
  expect(sandbox.meter().unitsUsed, shown).toBeLessThanOrEqual(CEILING);
  expect(ran.stderr.includes(sandbox.key), shown).toBe(false);
  if (ran.exitCode !== 0) expect(ran.error()['exit']).toBe(ran.exitCode);
  const left = readdirSync(home.path, { recursive: true, encoding: 'utf8' });
  expect(left.filter((name) => /\.(?:tmp|lock)$/.test(name))).toEqual([]);
  const text = existsSync(out) ? readFileSync(out, 'utf8') : '';
  expect(text === '' || text.endsWith('\n')).toBe(true);
  expect(text.includes(sandbox.key)).toBe(false);
  const ids = text
    .split('\n')
    .filter(Boolean)
    .map((line): string => JSON.parse(line).id);
  expect(new Set(ids).size).toBe(ids.length);
  if (ran.exitCode === 0) expect(ids.length, shown).toBeGreaterThan(0);
  expect(ids.filter((id) => posted.has(id)).length + 3).toBeGreaterThanOrEqual(ids.length);
}

// The faults of a mode are tried concurrently, because each run mostly waits.
test.each(['ws', 'poll', 'auto'])(
  'a tail via %s ends cleanly under every fault, without duplicates',
  async (way) => {
    await Promise.all(faults.filter(([, via]) => via === way).map(tryOut));
  },
);
