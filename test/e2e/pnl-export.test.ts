import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jsonLine } from '../../src/output/format/ndjson.ts';
import { virtualClock } from '../core/virtual-clock.ts';
import type { SandboxOptions } from '../sandbox/service.ts';
import { until } from './feed.ts';
import { type Home, openDesk, openHome, recordsIn, startTrdr, withoutReading } from './harness.ts';
import {
  ledgerOf,
  type NumbersSandbox,
  priceOf,
  receiptOf,
  recordsOf,
  someHandles,
  withNumbers,
} from './numbers.ts';
import { numbers } from './records.ts';
import { withService } from './service.ts';

const HANDLES = someHandles(350);
const FILE = recordsOf(HANDLES)
  .map((record) => `${jsonLine(record)}\n`)
  .join('');

/** An export of many handles, as in a cron job. */
function exportOf(
  sandbox: NumbersSandbox,
  home: Home = openHome(),
  handles = HANDLES,
  name = 'out.ndjson',
) {
  const out = home.at(name);
  const list = home.write('list', handles.join('\n'));
  const words = (...more: string[]) => ['pnl', '--file', list, '--out', out, '-y', ...more];
  return {
    home,
    out,
    journal: `${out}.journal`,
    words,
    run: (...more: string[]) => home.run(words(...more), { sandbox }),
    start: (...more: string[]) => startTrdr(words(...more), { sandbox, home }),
    text: () => withoutReading(readFileSync(out, 'utf8')),
  };
}

/** Such an export of a service with these faults or this allowance. */
async function openExport(options: SandboxOptions = {}, handles = HANDLES) {
  const sandbox = await withNumbers(options);
  return { sandbox, ...exportOf(sandbox, openHome(), handles) };
}

const paidTwice = ({ served }: NumbersSandbox) =>
  [...served].filter(([, times]) => times > 1).length;

/** The files of a journal by name. */
const filesIn = (journal: string): ReadonlyMap<string, string> =>
  new Map(
    (existsSync(journal) ? readdirSync(journal) : [])
      .toSorted()
      .map((name) => [name, readFileSync(join(journal, name), 'utf8')]),
  );

const answeredIn = (journal: string) =>
  [...filesIn(journal).values()].filter((text) => text.startsWith('{"kind":"answered"')).length;

describe('an interrupted export', () => {
  test('by SIGINT saves the answer it paid for, and resumes without paying twice', async () => {
    const second = 'delay@users.pnl+1=700ms';
    const { sandbox, start, run, journal, out, text } = await openExport({ faults: second });
    const child = start();
    await until(() => sandbox.faults.triggered[second] === 1);
    child.kill('SIGINT');
    const { exitCode, stderr } = await child;
    expect([exitCode, existsSync(out), answeredIn(journal)]).toEqual([130, false, 2]);
    expect(stderr).toContain('200 of 350 handles');
    expect(stderr).toContain('--resume');
    sandbox.faults.set('');
    expect((await run('--resume')).exitCode).toBe(0);
    expect([text() === FILE, paidTwice(sandbox), existsSync(journal)]).toEqual([true, 0, false]);
    expect(sandbox.meter().totalUnits).toBe(priceOf(HANDLES));
  });

  test('is not restarted without --resume, and the error states what to do', async () => {
    const { sandbox, run, journal } = await openExport({ faults: '503@users.pnl+2' });
    const first = await run('--retries', '0');
    const before = sandbox.log.length;
    const second = await run();
    expect([first.exitCode, second.exitCode, sandbox.log.length]).toEqual([9, 2, before]);
    expect(second.error()['hint']).toContain('--resume');
    expect(existsSync(journal)).toBe(true);
  });

  test('resumes only with the same handles', async () => {
    const { sandbox, run, home, journal, text } = await openExport({ faults: '503@users.pnl+1' });
    await run('--retries', '0');
    home.write('list', HANDLES.slice(1).join('\n'));
    const { exitCode, error } = await run('--resume');
    expect([exitCode, error()['code']]).toEqual([2, 'JOURNAL_OTHER']);
    // With --fresh as well, other handles start over, so that an unattended export does not stop for good.
    const before = filesIn(journal);
    const plan = await run('--resume', '--fresh', '--no-cache', '--dry-run');
    const most = plan.records().map((call) => Number(call['most']));
    expect([most.reduce((sum, each) => sum + each), filesIn(journal)]).toEqual([
      349 * 30_000,
      before,
    ]);
    sandbox.faults.set('');
    const again = await run('--resume', '--fresh', '--no-cache');
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('starting over')]);
    expect(text()).toBe(FILE.slice(FILE.indexOf('\n') + 1));
  });

  test('plans and requests only the handles without an answer', async () => {
    const { sandbox, run, words, home } = await openExport({ faults: '503@users.pnl+3' });
    await run('--retries', '0');
    const plan = await run('--resume', '--dry-run');
    const paid = plan.records().filter(({ times }) => times !== 0);
    expect(paid.map(({ most }) => most)).toEqual([50 * 30_000]);
    const refused = await home.run([...words('--resume').filter((word) => word !== '-y')], {
      sandbox,
    });
    expect(refused.error()).toMatchObject({
      exit: 11,
      message: expect.stringContaining('1,500,000 CU'),
    });
  });
});

describe('an export and its money', () => {
  test('writes what the allowance paid for, lists the rest in the journal, and resumes later', async () => {
    const paid = 120;
    const { sandbox, run, text, journal } = await openExport({
      monthlyUnits: priceOf(HANDLES.slice(0, paid)) + 29_000,
    });
    const { exitCode, stderr, error } = await run();
    const lines = text().split('\n').length - 1;
    expect(exitCode).toBe(6);
    expect(lines).toBeGreaterThanOrEqual(paid - 1);
    expect(text()).toBe(
      FILE.split('\n')
        .slice(0, lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(error()).toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(stderr).toContain(`and ${350 - lines - 20} more; all names are in ${journal}`);
    expect(JSON.parse(filesIn(journal).get('left.json') ?? '')).toEqual({
      code: 'QUOTA_EXCEEDED',
      handles: HANDLES.slice(lines),
    });
    sandbox.topUp(1e9);
    expect((await run('--resume')).exitCode).toBe(0);
    expect([text() === FILE, paidTwice(sandbox), existsSync(journal)]).toEqual([true, 0, false]);
  });

  test('respects the spending limit in each run, and completes', async () => {
    const { sandbox, run, text } = await openExport();
    const codes: number[] = [];
    for (let round = 0; round < 9 && codes.at(-1) !== 0; round++) {
      const before = sandbox.meter().totalUnits;
      codes.push((await run('--resume', '--max-cu', '3M')).exitCode);
      expect(sandbox.meter().totalUnits - before).toBeLessThanOrEqual(3_000_000);
    }
    expect(codes).toEqual([6, 6, 6, 0]);
    expect([text() === FILE, paidTwice(sandbox)]).toEqual([true, 0]);
  });

  test('reports a lost answer in ledger, file and summary, and pays again only with --resume', async () => {
    const { sandbox, run, text, home, journal } = await openExport({
      faults: 'lost@users.pnl+1*1',
    });
    const { exitCode, stderr, error } = await run();
    expect([exitCode, paidTwice(sandbox)]).toEqual([9, 0]);
    expect(sandbox.meter().totalUnits).toBe(priceOf(HANDLES));
    expect(stderr).toContain(
      'lost the answers for 100 handles (which may have cost up to 3,000,000 CU)',
    );
    expect(error()).toMatchObject({ code: 'BROKEN' });
    expect(ledgerOf(home).filter(({ status }) => status === null)).toMatchObject([
      { cu: 0, cuAtMost: 3_000_000 },
    ]);
    const records = recordsIn(text());
    expect(records).toHaveLength(350);
    expect(records.filter(({ found }) => found === null)).toHaveLength(100);
    expect(existsSync(journal)).toBe(true);
    expect((await run('--resume')).exitCode).toBe(0);
    expect([text() === FILE, paidTwice(sandbox)]).toEqual([true, 100]);
  });

  test.each([
    [350, 9, 0],
    [450, 0, 100],
  ])('repeats a lost batch only if %i handles fit the limit', async (handles, exit, bound) => {
    const { sandbox, words, text, home } = await openExport({ faults: 'reset@users.pnl+1*1' });
    // Use some units first: from a usage of zero, the program cannot conclude that a lost batch was free.
    await home.run('whois @mira', { sandbox });
    // Before the repetition, the program waits until the service has recorded the usage.
    const { exitCode, stderr } = await home.run(words('--max-cu', String(handles * 30_000)), {
      sandbox,
      clock: virtualClock(),
    });
    expect([exitCode, text() === FILE, paidTwice(sandbox)], stderr).toEqual([exit, exit === 0, 0]);
    const { cuAtMost: spent } = receiptOf(home);
    if (bound > 0) expect(spent).toBe(100 + priceOf(HANDLES) + bound * 30_000);
    expect(spent).toBeLessThanOrEqual(100 + handles * 30_000);
  });

  test('reads an answer again that an earlier version could not read, and pays only for the rest', async () => {
    let body: unknown = { strange: [1] };
    const service = await withService(() => ({ body }));
    const home = openHome();
    const words = ['pnl', 'one', 'two', 'none', 'rest', '--out', 'n.ndjson', '--resume', '-y'];
    const run = () => home.run(words, { sandbox: service, differs: true });
    expect([(await run()).exitCode, service.calls.length]).toEqual([9, 1]);
    // As if a newer version could read what the journal has saved.
    const place = home.at('n.ndjson.journal/0');
    const saved = JSON.stringify(JSON.stringify(body));
    const data = { entries: [numbers('two'), numbers('one')], missing: ['none'] };
    const text = readFileSync(place, 'utf8');
    expect(text).toContain(saved);
    writeFileSync(place, text.replace(saved, JSON.stringify(JSON.stringify({ data, meta: {} }))));
    body = { count: 1, missing: [], entries: [numbers('rest')] };
    const { exitCode, stderr } = await run();
    expect([exitCode, service.calls.length], stderr).toEqual([0, 2]);
    expect(stderr).toContain(
      'recovered 3 handles from saved answers that an earlier run could not parse',
    );
    const rows = home.read('n.ndjson').trim().split('\n');
    expect(rows.map((row): unknown => JSON.parse(row).found)).toEqual([true, true, false, true]);
  });

  test('does the same for a single handle', async () => {
    const { sandbox, run, text } = await openExport({ faults: 'lost@user.pnl*1' }, ['mira']);
    expect([(await run()).exitCode, sandbox.served.get('mira')]).toEqual([9, 1]);
    expect((await run('--resume')).exitCode).toBe(0);
    expect(text()).toBe(`${jsonLine(recordsOf(['mira'])[0])}\n`);
  });
});

test('a second process on the same file is rejected with the id of the first', async () => {
  const { sandbox, start, run, text } = await openExport({ faults: 'delay@users.pnl=1s' });
  const child = start();
  await until(() => sandbox.faults.triggered['delay@users.pnl=1s'] === 1);
  const second = await run('--resume');
  expect([second.exitCode, second.error()['code']]).toEqual([9, 'LOCKED']);
  expect(second.error()['message']).toContain(`process ${child.pid}`);
  sandbox.faults.set('');
  expect((await child).exitCode).toBe(0);
  expect([text() === FILE, paidTwice(sandbox)]).toEqual([true, 0]);
});

test('a journal of an earlier version is named and left alone', async () => {
  const { sandbox, run, journal } = await openExport();
  const text = '{"kind":"header","version":1,"size":350,"startedAt":0,"identity":{}}\n';
  writeFileSync(journal, text);
  for (const flags of [[], ['--resume'], ['--fresh'], ['--resume', '--fresh']]) {
    const { exitCode, error } = await run(...flags);
    expect([exitCode, error()['code'], sandbox.log.length]).toEqual([9, 'JOURNAL_VERSION', 0]);
    expect(error()['hint']).toContain('finish the export with that version');
  }
  expect(readFileSync(journal, 'utf8')).toBe(text);
});

test('an export that never started leaves no files behind', async () => {
  const { sandbox, words, run, home, journal } = await openExport();
  const refused = await home.run([...words().filter((word) => word !== '-y')], { sandbox });
  expect([refused.exitCode, existsSync(journal)]).toEqual([11, false]);
  expect(sandbox.meter().totalUnits).toBe(0);
  const ceiling = await run('--max-cu', '29999');
  expect([ceiling.exitCode, existsSync(journal), sandbox.meter().totalUnits]).toEqual([
    6,
    false,
    0,
  ]);
  expect((await run()).exitCode).toBe(0);
});

describe('--fresh', () => {
  test('starts an interrupted export over, and together with --resume continues it', async () => {
    const { sandbox, run, journal, text } = await openExport({ faults: '503@users.pnl+2' });
    await run('--retries', '0', '--no-cache');
    expect(answeredIn(journal)).toBe(2);
    sandbox.faults.set('');
    expect((await run('--resume', '--fresh', '--no-cache')).exitCode).toBe(0);
    expect([text() === FILE, paidTwice(sandbox)]).toEqual([true, 0]);
    sandbox.faults.set('503@users.pnl+3');
    await run('--fresh', '--retries', '0', '--no-cache');
    sandbox.faults.set('');
    expect((await run('--fresh', '--no-cache')).exitCode).toBe(0);
    expect([text() === FILE, existsSync(journal)]).toEqual([true, false]);
    expect(Math.max(...sandbox.served.values())).toBeGreaterThan(2);
  });
});

describe('an existing file', () => {
  const existing = async () => {
    const given = await openExport({}, someHandles(3));
    writeFileSync(given.out, 'of last night\n');
    return given;
  };

  test.each([
    ['n', 11],
    ['', 11],
    ['y', 0],
  ])('is replaced only if the user agrees: %j', async (answer, exit) => {
    const { sandbox, home, words, text, out } = await existing();
    const ran = await home.run(words(), { sandbox, tty: true, typed: [`${answer}\r`] });
    expect([ran.exitCode, text() !== 'of last night\n']).toEqual([exit, exit === 0]);
    expect(ran.stderr).toContain(`${out} already exists. Replace it? [y/N]`);
    if (exit === 0) return;
    expect(ran.stderr).toContain('NOT_CONFIRMED');
    expect(sandbox.log.length).toBe(0);
  });

  test.each([[[]], [['--sandbox']], [['--max-cu', '1M']]])(
    'is not replaced without a terminal: %j',
    async (more) => {
      const { sandbox, home, words, text, journal } = await existing();
      const ran = await home.run(words(...more), { sandbox });
      expect([ran.exitCode, ran.error()['code'], text()]).toEqual([
        11,
        'CONFIRMATION_NEEDED',
        'of last night\n',
      ]);
      expect([sandbox.log.length, existsSync(journal)]).toEqual([0, false]);
    },
  );

  test('is replaced without a question by --fresh, if it is empty, and by other commands', async () => {
    const { sandbox, home, run, text, out } = await existing();
    expect((await run('--fresh')).exitCode).toBe(0);
    expect(text()).not.toContain('night');
    writeFileSync(out, '');
    expect((await run()).exitCode).toBe(0);
    for (const words of [
      ['thesis', 'list', '--out', out],
      ['whois', 'mira', '--out', out],
    ]) {
      const before = text();
      expect((await home.run(words, { sandbox })).exitCode).toBe(0);
      expect(text()).not.toBe(before);
    }
  });
});

test.each(['pnl mira', 'launchpad history --since 1d'])(
  '--resume keeps a finished file of "trdr %s", and an empty one is not finished',
  async (words) => {
    const { sandbox, home } = await openDesk();
    const out = home.write('out.ndjson', '');
    const run = () => home.run([...words.split(' '), '--out', out, '--resume'], { sandbox });
    const first = await run();
    expect([first.exitCode, first.stderr]).toEqual([0, expect.not.stringContaining('is finished')]);
    const text = readFileSync(out, 'utf8');
    expect(text).not.toBe('');
    const again = await run();
    expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining('is finished')]);
    expect(readFileSync(out, 'utf8')).toBe(text);
  },
);

test('--resume continues an interrupted export to a file that is named by a link', async () => {
  const { sandbox, run, out, home } = await openExport({ faults: '503@users.pnl+1' });
  const target = home.at('target.ndjson');
  writeFileSync(
    target,
    `${jsonLine({ subject: HANDLES[0], found: false, code: 'NOT_OBSERVED' })}\n`,
  );
  symlinkSync(target, out);
  await run('--fresh', '--retries', '0');
  sandbox.faults.set('');
  expect((await run('--resume')).exitCode).toBe(0);
  expect(withoutReading(readFileSync(target, 'utf8'))).toBe(FILE);
});
