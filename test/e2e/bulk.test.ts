import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { repeats } from '../repeats.ts';
import { bash } from './bash.ts';
import { openDesk, runInProcess, withSandbox } from './harness.ts';

/** The number of lines of an endless input; `BULK_LINES=3000000` reads more. */
const LINES = repeats('BULK_LINES', 10_000, 1_000_000);
/** The number of lines that each cost a call. */
const NEW = repeats('BULK_NEW', 300, 100_000);
const plenty = { ratePerMinute: 1_000_000, burstPerSecond: 1_000_000, plan: 'enterprise' } as const;

describe('endless input', () => {
  test('needs bounded memory', async () => {
    const sandbox = await withSandbox(plenty);
    // The heap is limited to 48 MB, whatever the number of lines.
    const peak = async (lines: number) => {
      const line = `yes mira | head -${lines} | /usr/bin/env bash -c '"$NODE" --max-old-space-size=48 --report-on-fatalerror "$PROGRAM" whois -; echo $? >&2' | tail -1 | wc -l`;
      return await bash(line, { sandbox });
    };
    const ran = await peak(LINES);
    expect([ran.stderr.trim().split('\n').at(-1), ran.stdout.trim()]).toEqual(['0', '1']);
    expect(sandbox.meter().totalUnits).toBe(100);
  });

  test('of new subjects needs bounded memory', async () => {
    const sandbox = await withSandbox(plenty);
    const ran = await bash(
      `seq ${NEW} | sed s/^/nobody_/ | "$NODE" --max-old-space-size=40 "$PROGRAM" whois - --yes | wc -l`,
      { sandbox },
    );
    expect([ran.stdout.trim(), ran.stderr]).toEqual([`${NEW}`, '']);
  });
});

test('input without a known end stops at the confirmation threshold, and its answers are printed', async () => {
  const { sandbox, home, run } = await openDesk({ ...plenty, traders: 100 });
  mkdirSync(home.config, { recursive: true });
  const profile = { version: 1, profiles: { default: { confirmAbove: 2_000 } } };
  writeFileSync(join(home.config, 'config.json'), JSON.stringify(profile));
  const stdin = `${'mira\n'.repeat(10_000)}${Array.from({ length: 50 }, (_, at) => `nobody_${at}\n`).join('')}`;
  // Records of a few fields are not checked against their schema, which takes longest here.
  const words = ['whois', '-', '--fields', 'subject'];
  const ran = await run(words, { stdin });
  expect([ran.exitCode, sandbox.meter().totalUnits]).toEqual([6, 1_900]);
  expect(ran.error()).toMatchObject({ code: 'CEILING', hint: expect.stringContaining('--yes') });
  expect(ran.lines()).toHaveLength(10_009);
  // Calls that reach the limit together ask one question.
  const terminal = { tty: { stderr: true }, typedOnTerminal: 'y\n' };
  const agreed = await run([...words, '--no-cache', '-q'], { stdin, ...terminal });
  expect(agreed.said.match(/Continue up to \S+/g)).toHaveLength(3);
});

describe('an error in a list', () => {
  test('is reported with its line before anything is paid', async () => {
    const { sandbox, run } = await openDesk();
    const stdin = 'mira\n\n# desk\njuno\n0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee\n';
    const ran = await run('whois -', { stdin });
    expect([ran.exitCode, sandbox.log.length]).toEqual([2, 0]);
    expect(ran.error()['message']).toMatch(/^line 5: .*checksum/);
  });

  test.each(['whois', 'resolve', 'pnl', 'launchpad user'])(
    'that is a list of %s subjects is free, and the hint names the command without it',
    async (name) => {
      const sandbox = await withSandbox();
      const words = name.split(' ');
      const wallets =
        '8BnEgHoWFysVcuFFX7QztDmzuH8r5ZFvyP3sYwn1XTh6 29C1XCzXZZGnZiBqALZtNj5sJw9yzpPqPzQmCNKsjzFL';
      const subjects = name === 'launchpad user' ? wallets.split(' ') : ['mira', 'solwolf'];
      for (const mark of [',', ' ; ']) {
        const list = subjects.join(mark);
        const stdin = `a,subject\n,${subjects[0]}\n,"${list}"\n`;
        const given = await runInProcess([...words, '-y', list], { sandbox });
        const column = await runInProcess([...words, '-y', '-', '--column', 'subject'], {
          sandbox,
          stdin,
        });
        expect([given.exitCode, column.exitCode, sandbox.meter().totalUnits]).toEqual([2, 2, 0]);
        expect(column.error()['message']).toMatch(/^line 3: .*: expected one subject, got a list$/);
        expect(given.error()['hint']).toMatch(
          new RegExp(`with: trdr ${name} -y ${subjects.join(' ')}$`),
        );
      }
    },
  );

  test('beyond the lines that are checked first becomes a record', async () => {
    const { run } = await openDesk(plenty);
    const stdin = `${'mira\n'.repeat(10_000)}two words\nmira\n`;
    const ran = await run('whois - --yes', { stdin });
    expect(ran.exitCode).toBe(0);
    const [bad, last] = ran.records().slice(-2);
    expect(bad).toMatchObject({
      subject: 'two words',
      found: null,
      error: { code: 'BAD_SUBJECT' },
    });
    expect(last).toMatchObject({ subject: 'mira', found: true });
  });
});
