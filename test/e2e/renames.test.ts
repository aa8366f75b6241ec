import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { TERM_MS } from '../../src/sandbox/world/people.ts';
import { openDesk } from './harness.ts';

/** A home that has read a trader of the feed by handle, and a sandbox in which the trader has another handle since. */
async function withRenamed() {
  const { sandbox, home } = await openDesk();
  let hours = 0;
  // That of the service, because the clock of the machine may be set meanwhile.
  const now = () => Math.floor(sandbox.clock.now()) + hours * 3_600_000;
  const clock = { ...systemClock, now };
  const run = (...words: string[]) => home.run(words, { sandbox, clock, env: { TZ: 'UTC' } });
  const id = sandbox.world.user('mira')?.id ?? '';
  await run('whois', 'mira');
  sandbox.world.rename(id, 'deuce');
  const calls = () => sandbox.log.map(({ endpoint }) => endpoint).filter((name) => name !== 'me');
  return {
    sandbox,
    home,
    run,
    id,
    calls,
    spent: () => sandbox.meter().totalUnits,
    wait(more: number) {
      hours += more;
    },
  };
}

const SAID = /mira is @deuce since \d{4}-\d\d-\d\d \d\d:\d\d \(same user id\)/i;

describe('an old handle', () => {
  test.each<[readonly string[], number, readonly string[]]>([
    [['whois', 'mira'], 0, []],
    [['whois', '@Mira', 'deuce', '--history'], 0, []],
    [['resolve', 'mira'], 0, []],
    [['pnl', 'mira'], 30_000, ['user.pnl']],
    [['pnl', 'mira', 'solwolf', '--yes'], 60_000, ['users.pnl']],
    [['thesis', 'list', '--user', 'mira'], 200, ['thesis.user']],
    [['thesis', 'list', '--users', 'desk.txt', '--limit', '5'], 200, ['thesis.user']],
    [['thesis', 'tail', '--users', 'desk.txt', '--no-follow', '--yes'], 200, ['thesis.user']],
    [['launchpad', 'callouts', '--user', 'mira'], 20, ['launchpad.callouts.wallet']],
    [['launchpad', 'user', 'mira'], 10, ['launchpad.user']],
  ])('is its user, who is not looked up again: %j', async (words, most, paths) => {
    const { home, run, calls, spent, id } = await withRenamed();
    home.write('desk.txt', 'mira\n');
    await run('whois', id, '--max-age', '1ms');
    const [before, asked] = [spent(), calls().length];
    const ran = await run(...words);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringMatching(SAID)]);
    const sent: readonly (string | null)[] = calls().slice(asked);
    expect(sent).toEqual(expect.arrayContaining([...paths]));
    for (const lookup of ['user.handle', 'user.id', 'user.wallet'])
      expect(sent).not.toContain(lookup);
    expect(spent() - before).toBeLessThanOrEqual(most);
    for (const record of ran.records())
      if (record['subject'] === 'mira') expect(record['handle'] ?? 'deuce').toBe('deuce');
  });

  test('is confirmed by id once it is older than --max-age, except where the id is enough', async () => {
    const { run, calls, id, wait } = await withRenamed();
    await run('whois', id, '--max-age', '1ms');
    wait(24);
    const asked = calls().length;
    await run('thesis', 'list', '--user', 'mira');
    expect(calls().slice(asked)).toEqual(['thesis.user']);
    const ran = await run('whois', 'mira');
    expect(ran.records()).toMatchObject([{ subject: 'mira', handle: 'deuce', id }]);
    expect(calls().slice(asked + 1)).toEqual(['user.id']);
  });

  test('is found through the posts of its user, whose record they do not change', async () => {
    const { sandbox, home, run, calls, id, wait } = await withRenamed();
    home.write('desk.txt', 'mira\n');
    wait(1);
    const post = sandbox.post();
    sandbox.post({ ...post, id: 'by-deuce', authorId: id, authorHandle: 'deuce' });
    await run('thesis', 'list', '--limit', '5', '--max-cu', '1k');
    wait(24);
    const asked = calls().length;
    const tail = ['thesis', 'tail', '--users', 'desk.txt', '--no-follow', '--backfill', '5'];
    const ran = await run(...tail, '--yes');
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringMatching(SAID)]);
    expect(ran.records().map(({ authorHandle }) => authorHandle)).toContain('deuce');
    expect([...new Set(calls().slice(asked))]).toEqual(['thesis.user']);
    const { records } = await run('whois', id, '--max-age', '60d', '--history');
    expect(records()).toMatchObject([{ handle: 'mira', was: [] }]);
  });

  test('that the service does not know any more leads to its user by id, once for 300 CU', async () => {
    const { run, calls, spent, id, wait } = await withRenamed();
    wait(2);
    const plan = await run('whois', 'mira', '--dry-run');
    expect(plan.records()).toMatchObject([
      { endpoint: 'user.handle', least: 100, most: 200 },
      { endpoint: 'user.id', least: 0, most: 200 },
    ]);
    const [before, asked] = [spent(), calls().length];
    const ran = await run('whois', 'mira');
    expect(ran.stderr).toMatch(SAID);
    expect(ran.records()).toMatchObject([{ subject: 'mira', found: true, handle: 'deuce', id }]);
    await run('whois', 'mira');
    expect([calls().slice(asked), spent() - before]).toEqual([['user.handle', 'user.id'], 300]);
  });

  test('that somebody else has now is that other person, and says so each time', async () => {
    const { sandbox, run, id, wait } = await withRenamed();
    const other = sandbox.world.user('solwolf')?.id ?? '';
    await run('whois', id, '--max-age', '1ms');
    sandbox.world.rename(other, 'mira');
    await run('whois', other);
    for (const age of [0, 2]) {
      wait(age);
      const { stderr, records } = await run('whois', 'mira');
      expect(records()).toMatchObject([{ subject: 'mira', handle: 'mira', id: other }]);
      expect(stderr).toMatch(
        new RegExp(`@mira now belongs to another user: until [-\\d]+, it belonged to ${id}`),
      );
    }
  });

  test('a long list names the first of them, and counts the others', async () => {
    const { sandbox, home, run } = await withRenamed();
    const handles = sandbox.world.handles().slice(0, 14);
    const ids = handles.map((handle) => sandbox.world.user(handle)?.id ?? '');
    await run('whois', ...handles);
    for (const [at, id] of ids.entries()) sandbox.world.rename(id, `new_${at}`);
    await run('whois', ...ids, '--max-age', '1ms');
    home.write('desk.txt', handles.join('\n'));
    const { stderr, records } = await run('whois', '--file', 'desk.txt');
    expect(records().map(({ handle }) => handle)).toEqual(handles.map((_, at) => `new_${at}`));
    expect(stderr.trimEnd().split('\n')).toHaveLength(11);
    expect(stderr).toContain('the same holds for 4 more handles');
  });
});

test.each([
  ['alone', ['mira'], []],
  ['in a batch', ['mira', 'solwolf'], []],
  ['in an export', ['mira', 'solwolf'], ['--out', 'numbers.csv']],
])('numbers that are not found name a user who was read before: %s', async (_, handles, out) => {
  const { run, id } = await withRenamed();
  const ran = await run('pnl', 'nobody_x', ...handles, ...out, '--yes');
  expect([ran.exitCode, ran.said], ran.stderr).toEqual([
    handles.length > 1 ? 0 : 3,
    expect.stringContaining(`1 handle not found now, but known from before (mira)`),
  ]);
  expect(ran.said).toContain(`"trdr whois ${id}"`);
  await run('whois', id, '--max-age', '1ms');
  const again = await run('pnl', 'mira', '--yes');
  expect(again.records()).toMatchObject([{ subject: 'mira', found: true, handle: 'deuce' }]);
});

test('a replay has the posts of a user by all handles, and those of nobody else', async () => {
  const { home, run, id } = await withRenamed();
  await run('whois', id, '--max-age', '1ms');
  const other = '00000000-0000-4000-8000-000000000001';
  const posts = [
    ['by id', id, 'mira'],
    ['renamed', id, 'deuce'],
    ['reused', other, 'mira'],
    ['without an id', undefined, 'mira'],
    ['without an id now', undefined, 'deuce'],
    ['another', other, 'somebody'],
  ].map(([name, authorId, authorHandle]) => ({
    ...{ id: name, authorId, authorHandle, thesis: '' },
    platformCreatedAt: 1_770_000_000_000,
  }));
  const file = home.write('posts.ndjson', posts);
  const replayed = async (user: string) => {
    const ran = await run('thesis', 'tail', '--replay', file, '--user', user);
    const isDoubted = ran.said.includes('a user id finds the posts of one user');
    return [...ran.records().map(({ id: name }) => name), ...(isDoubted ? ['doubted'] : [])];
  };
  const own = ['by id', 'renamed', 'without an id', 'without an id now'];
  expect(await replayed('mira')).toEqual(own);
  expect(await replayed('deuce')).toEqual(own.filter((name) => name !== 'without an id'));
  expect(await replayed(id)).toEqual(own.filter((name) => name !== 'without an id'));
  // Not known by an id here, so only the posts show that this user had another handle.
  expect(await replayed('somebody')).toEqual(['another', 'doubted']);
  expect(await replayed('nobody_x')).toEqual([]);
});

describe('a moved wallet', () => {
  test.each([
    ['after the record', ['whois', 'pnl'], undefined],
    ['before the first record', ['pnl'], true],
  ])('that numbers named %s is in the history', async (_, commands, byHandle) => {
    const { sandbox, run, calls } = await withRenamed();
    const { solanaAddress } = sandbox.world.user('giver') ?? {};
    for (const command of commands) await run(command, 'giver');
    sandbox.world.moveTo(sandbox.clock.now() + TERM_MS);
    await run('pnl', 'giver', '--no-cache');
    await run('pnl', 'giver', '--max-age', '1ms');
    const asked = calls().length;
    const ran = await run('whois', 'giver', '--history');
    // The record that was read before is an hour old at most, but known to be outdated.
    expect(calls().slice(asked)).toEqual(['user.handle']);
    const was = { solanaAddress, ...(byHandle && { byHandle }) };
    expect(ran.records()).toMatchObject([{ was: [was] }]);
    const card = await run('whois', 'giver', '--history', '-o', 'markdown');
    expect(card.stdout).not.toContain('nothing else was seen before');
  });
});
