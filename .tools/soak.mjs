// Runs the tests at times at which calendars are special, and then once with long repetitions. Arguments select test files.
import { spawnSync } from 'node:child_process';
import { root } from './bundle.mjs';

/** The end of a month, of February in both kinds of years, of a year, and of daylight saving time. */
const clocks = [
  { TEST_NOW: '2026-06-30T23:58:00Z' },
  { TEST_NOW: '2027-02-28T23:58:00Z' },
  { TEST_NOW: '2028-02-29T12:00:00Z' },
  { TEST_NOW: '2026-12-31T23:58:00Z' },
  { TEST_NOW: '2026-10-25T00:58:00Z', TZ: 'Europe/Berlin' },
  { TEST_NOW: '2027-03-14T09:58:00Z', TZ: 'America/Los_Angeles' },
];

const words = ['run', '--silent', 'tests', '--', ...process.argv.slice(2)];
const flawed = [...clocks, { SOAK: '1' }].filter((more) => {
  const name = Object.entries(more).map((pair) => pair.join('='));
  process.stdout.write(`\n${name.join(' ')}\n`);
  const { status } = spawnSync('npm', words, {
    cwd: root,
    env: { ...process.env, ...more },
    stdio: 'inherit',
  });
  return status !== 0;
});
for (const more of flawed) process.stdout.write(`failed: ${JSON.stringify(more)}\n`);
process.exitCode = flawed.length === 0 ? 0 : 1;
