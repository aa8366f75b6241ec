import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AnyCommand } from '../../src/cli/command.ts';
import { allCommands } from '../../src/cli/docs/help.ts';
import { commonErrors } from '../../src/contract/endpoint.ts';
import { endpoints } from '../../src/contract/endpoints.ts';
import { errorCodes, isErrorCode } from '../../src/contract/errors.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import { isSoak, some } from '../repeats.ts';
import { manualClock } from '../sandbox/clock.ts';
import { type Sandbox, startSandbox } from '../sandbox/service.ts';
import { exitOfCode } from './exit-codes.ts';
import { type Home, openHome, type Ran } from './harness.ts';

const CEILING = 150_000;
const NOBODY = '11111111111111111111111111111111';

/** Every command that calls the service, with common arguments. */
const lines: readonly (readonly [command: string, words: readonly string[]])[] = [
  ['whois', ['whois', 'mira']],
  ['whois', ['whois', 'mira', 'nobody_at_all', '--strict']],
  ['whois', ['whois', NOBODY, '-o', 'csv']],
  ['resolve', ['resolve', 'mira']],
  ['resolve', ['resolve', 'mira', '--direct']],
  ['pnl', ['pnl', 'mira']],
  ['pnl', ['pnl', 'mira', 'nobody_at_all', '-o', 'json']],
  ['thesis list', ['thesis', 'list']],
  ['thesis list', ['thesis', 'list', '--limit', '45', '-o', 'csv']],
  ['launchpad user', ['launchpad', 'user', NOBODY]],
  ['launchpad callouts', ['launchpad', 'callouts', '--limit', '30', '-o', 'json']],
  ['launchpad board', ['launchpad', 'board']],
  ['launchpad history', ['launchpad', 'history', '--since', '2d']],
  ['me', ['me']],
  ['doctor', ['doctor']],
  ['usage', ['usage', '--reconcile']],
  ['auth status', ['auth', 'status', '--check']],
  ['auth login', ['auth', 'login', '--with-key']],
  ['api', ['api', '/v2/thesis?limit=5']],
];

/** One code for each exit code, and for codes that are retried or not; `errors.test.ts` covers the others. */
const codes = [
  'UNAUTHORIZED',
  'FORBIDDEN_SCOPE',
  'QUOTA_EXCEEDED',
  'BAD_REQUEST',
  'NOT_OBSERVED',
  'CONFLICT',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
] as const;
const breaks = ['502', 'reset', 'lost', 'cut', 'html', 'shape', 'stall'] as const;
const everyFault: readonly string[] = [...codes, ...breaks];
/** One fault of each kind: final, not found, to be waited for, with an unknown cost, and unreadable. */
const kinds = ['UNAUTHORIZED', 'NOT_OBSERVED', 'RATE_LIMITED', 'lost', 'shape'];

const exitOfFault = (fault: string): number => (isErrorCode(fault) ? exitOfCode[fault] : 9);
/** Whether the program retries a call after the fault, if a retry is safe. */
const passes = (fault: string): boolean =>
  isErrorCode(fault) ? errorCodes[fault].retryable : fault !== 'html' && fault !== 'shape';

let sandbox: Sandbox;
let commands: readonly AnyCommand[];
beforeAll(async () => {
  // The numbers of a trader change every minute, so the time stands still.
  const clock = manualClock(Date.now());
  sandbox = await startSandbox({
    clock,
    ratePerMinute: 1e6,
    burstPerSecond: 1e6,
    monthlyUnits: 1e12,
  });
  commands = await allCommands();
});
afterAll(() => sandbox.close());

const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => statSync(path).isFile())
    : [];

/** The name of the output file in the home of a run. */
const ROWS = 'rows.ndjson';

interface Attempt extends Ran {
  readonly home: Home;
  readonly cost: number;
}

async function tryOut(given: readonly string[], faults: string, input?: string): Promise<Attempt> {
  const home = openHome();
  const words = given.map((word) => (word === ROWS ? home.at(word) : word));
  // Clears the rate limits, but not the ledger.
  sandbox.restart();
  sandbox.faults.set(faults);
  // Only this fault lets a call time out; with others, a busy machine must not.
  const timeout = faults.startsWith('stall') ? '150ms' : '10s';
  const before = sandbox.meter().totalUnits;
  const money = commands.some(
    (one) =>
      one.path === words.slice(0, one.path.split(' ').length).join(' ') &&
      one.common?.includes('money'),
  );
  const limit = money ? ['--max-cu', String(CEILING)] : [];
  const ran = await home.run([...words, '--timeout', timeout, '--retries', '2', ...limit], {
    ...{ sandbox, clock: virtualClock(), random: () => 0, stdin: input },
  });
  sandbox.faults.set('');
  return { ...ran, home, cost: sandbox.meter().totalUnits - before };
}

/** Checks what must hold for every run, with any fault. */
function checkRules(path: string, words: readonly string[], fault: string, ran: Attempt): void {
  const spec = commands.find((command) => command.path === path);
  const shown = `${words.join(' ')}: ${ran.exitCode}\n${ran.stdout.slice(0, 500)}\n${ran.stderr}`;
  const expected = documented(path, fault);
  if (expected) expect(spec?.exits, shown).toContain(ran.exitCode);
  expect(ran.stderr, shown).not.toMatch(/BUG|\n\s+at |TypeError|RangeError|undefined|\[object/);
  expect(ran.cost, shown).toBeLessThanOrEqual(CEILING);
  for (const text of [ran.stdout, ran.stderr])
    expect(text.includes(sandbox.key), shown).toBe(false);
  for (const file of filesIn(ran.home.path)) {
    expect(file, shown).not.toMatch(/\.(?:tmp|lock)$/);
    // Only a login may save the key, and only in the config folder.
    if (path === 'auth login' && file.startsWith(ran.home.config)) continue;
    expect(readFileSync(file, 'latin1').includes(sandbox.key), file).toBe(false);
  }
  const last = ran.stderr.trimEnd().split('\n').at(-1) ?? '';
  // A subject that is not found, and a check that failed, are records and not errors.
  if (ran.exitCode === 0 || path === 'doctor') return;
  if ((ran.exitCode === 3 || ran.exitCode === 8) && !ran.stderr.includes('{"error"')) return;
  expect(last, shown).toMatch(/^\{"error":\{.*\}\}$/);
  expect(JSON.parse(last).error.exit, shown).toBe(ran.exitCode);
}

describe.each(some(lines, 4))('%s, as %j,', (path, words) => {
  // The client handles faults in the same way for every command.
  const faults = isSoak || words === lines[0]?.[1] ? everyFault : kinds;
  let well: Attempt | undefined;
  const input = path === 'auth login' ? () => sandbox.key : () => undefined;
  // The free call for the time of the service is optional, so a fault of it ends nothing.
  const own = path === 'launchpad history' ? '@launchpad' : '';
  const place = isMe(path) ? '@me' : own;
  const spelled = (fault: string, more = '') =>
    `${fault}${place}${more}${fault === 'RATE_LIMITED' ? '=30s' : ''}`;

  test.each(faults)('exits as documented if every call fails with %s', async (fault) => {
    const ran = await tryOut(words, spelled(fault), input());
    checkRules(path, words, fault, ran);
    expect([exitOfFault(fault), ...otherEnds(path, words, fault)], ran.stderr).toContain(
      ran.exitCode,
    );
  });

  const isPost = words.includes('--direct') || (path === 'pnl' && words.length > 3);
  const isSafe = (fault: string): boolean => passes(fault) && (!isPost || isErrorCode(fault));
  const single = async (fault: string): Promise<Attempt> => {
    const ran = await tryOut(words, spelled(fault, '*1'), input());
    checkRules(path, words, fault, ran);
    return ran;
  };

  test.each(faults.filter(isSafe))('recovers from a single %s', async (fault) => {
    well ??= await tryOut(words, '', input());
    const ran = await single(fault);
    expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([
      well.exitCode,
      steady(well.stdout, ran.stdout),
    ]);
  });

  test.each(faults.filter((fault) => !isSafe(fault)))(
    'keeps the rules after a single %s that is not safe to retry',
    async (fault) => void (await single(fault)),
  );

  const writesFiles = !(path === 'doctor' || isMe(path) || path === 'api');
  if (writesFiles)
    test('leaves a complete file or none', async () => {
      for (const fault of [
        'INTERNAL_ERROR+1',
        'cut+1',
        'lost',
        'RATE_LIMITED+1=30s',
        'QUOTA_EXCEEDED+1',
        'html+1',
      ]) {
        const given = words.filter((word, at) => word !== '-o' && words[at - 1] !== '-o');
        const ran = await tryOut([...given, '--out', ROWS], fault);
        checkRules(path, words, fault, ran);
        const file = join(ran.home.path, ROWS);
        if (!existsSync(file)) continue;
        const text = readFileSync(file, 'utf8');
        expect(text === '' || text.endsWith('\n')).toBe(true);
        for (const line of text.split('\n').filter(Boolean))
          expect(() => JSON.parse(line)).not.toThrow();
      }
    });
});

/** Whether the fault can affect the command; a broken connection always can. */
function documented(path: string, fault: string): boolean {
  if (!isErrorCode(fault)) return true;
  const calls = commands.find((command) => command.path === path)?.calls ?? [];
  const rows = calls.filter((id) => id !== 'ws').map((id) => endpoints[id]);
  return [...commonErrors, ...rows.flatMap((row): readonly string[] => row.errors)].includes(fault);
}

/** Exit codes that are correct although they differ from that of the fault. */
function otherEnds(path: string, words: readonly string[], fault: string): number[] {
  if (path === 'api' && fault === 'shape') return [0];
  // Every object is a valid record of the key.
  if (isMe(path) && path !== 'usage' && fault === 'shape') return [0];
  const isMiss = fault === 'NOT_OBSERVED' || fault === 'NOT_FOUND';
  // A time without a snapshot is reported, and no failure.
  if (path === 'launchpad history' && fault === 'NOT_OBSERVED') return [0];
  if (isMiss && words.includes('--strict')) return [10];
  return [];
}

/** Whether a command only requests the record of the key. */
const isMe = (path: string) =>
  ['me', 'usage', 'auth status', 'auth login', 'doctor'].includes(path);

/** The expected text: `well`, or `now` if the texts are equally long and so may differ only in times. */
const steady = (well: string, now: string): string => (well.length === now.length ? now : well);
