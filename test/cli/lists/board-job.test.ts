import { describe, expect, test } from 'vitest';
import { launchpadBoard } from '../../../src/cli/commands/launchpad-board.ts';
import { boardJob } from '../../../src/cli/lists/board-job.ts';
import { readLine } from '../../../src/cli/program/read-line.ts';
import { board } from '../../e2e/records.ts';
import { type Reply, withService } from '../../e2e/service.ts';
import { runJobOf } from '../job.ts';

/** Runs the board of a line against a service. */
async function runBoard(line: string, reply: (path: string) => Reply = () => ({ body: board() })) {
  const service = await withService(({ path }) => reply(path));
  const words = `launchpad board ${line} -o ndjson`;
  const read = await readLine(words.split(' '));
  if (!('command' in read)) throw new Error('the line asks for help');
  const flags = launchpadBoard.parse([], read.parsed.given as never);
  const ran = await runJobOf(words, (context) => boardJob(context, flags), { sandbox: service });
  return { ...ran, sent: service.calls.filter((call) => call.includes('/launchpad/')) };
}

const earlier = (path: string) => path.includes('at=');

describe('the plan of the board', () => {
  test.each([
    ['--period weekly', 1, 10],
    ['--period weekly --at 2d', 1, 10],
    ['--period weekly --compare 1d', 2, 20],
    ['--period weekly --at 2d --compare 1d', 2, 20],
  ])('of %j has a call for each snapshot', async (line, calls, cost) => {
    const ran = await runBoard(`${line} --dry-run`);
    expect(ran.calls.map((call) => 'id' in call && call.id)).toEqual(
      Array.from({ length: calls }, () => 'launchpad.board'),
    );
    expect(ran.cost).toMatchObject({ least: cost, most: cost });
    expect([ran.exit, ran.sent]).toEqual([0, []]);
  });

  test.each(['--compare 2999-01-01', '--at 2020-01-01 --compare 2021-01-01'])(
    'rejects %s before anything is sent',
    async (line) => {
      const ran = await runBoard(`--period weekly ${line}`);
      expect(ran.failure).toMatchObject({ kind: 'usage' });
      expect([ran.sent, ran.stdout]).toEqual([[], '']);
    },
  );
});

describe('the board', () => {
  test('prints the entries of the snapshot, up to its limit, and counts them', async () => {
    const ran = await runBoard('--period weekly --limit 2');
    expect(ran.records().map(({ rank, period }) => [rank, period])).toEqual([
      [1, 'weekly'],
      [2, 'weekly'],
    ]);
    expect([ran.exit, ran.outcome, ran.sent.length]).toEqual([0, '2 entries', 1]);
  });

  test('requests the shown snapshot before the earlier one, and prints only what changed', async () => {
    const ran = await runBoard('--period weekly --compare 1d --changed', (path) => {
      const { entries, ...rest } = board();
      const [first, second, third] = entries;
      const past = [second, first, third].map((entry, at) => ({ ...entry, rank: at + 1 }));
      return { body: { ...rest, entries: earlier(path) ? past : entries } };
    });
    expect(ran.sent.map(earlier)).toEqual([false, true]);
    expect(ran.records().map(({ rank, rankChange }) => [rank, rankChange])).toEqual([
      [1, 1],
      [2, -1],
    ]);
  });

  test('that cannot read the earlier snapshot prints the one that was paid for, and fails', async () => {
    const ran = await runBoard('--period weekly --compare 1d', (path) =>
      earlier(path)
        ? { status: 403, body: { error: { code: 'FORBIDDEN', message: 'no' } } }
        : { body: board() },
    );
    expect(ran.failure).toMatchObject({ kind: 'forbidden' });
    expect(ran.records().map(({ rank, change }) => [rank, change])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
    ]);
    expect(ran.stderr).toContain('cannot read the earlier snapshot');
  });

  test('that cannot be read prints nothing', async () => {
    const ran = await runBoard('--period weekly --compare 1d', () => ({
      status: 403,
      body: { error: { code: 'FORBIDDEN', message: 'no' } },
    }));
    expect(ran.failure).toMatchObject({ kind: 'forbidden' });
    expect([ran.stdout, ran.sent.length]).toEqual(['', 1]);
  });
});
