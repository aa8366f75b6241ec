import { describe, expect, test } from 'vitest';
import { virtualClock } from '../core/virtual-clock.ts';
import { type CommandLine, openHome, runInProcess } from './harness.ts';
import { numbers, user, WALLET } from './records.ts';
import { anyMe, type Reply, withService } from './service.ts';

/** The numbers of a trader whose rank is given. */
const ranked = (handle: string, rank: unknown) => {
  const { windows, ...rest } = numbers(handle);
  return { ...rest, windows: { ...windows, '24h': { ...windows['24h'], rank } } };
};
const notices = (stderr: string) =>
  stderr.split('\n').filter((line) => line.includes('differs from the service description'));
const handles = Array.from({ length: 40 }, (_, at) => `trader${at}`);
const batch = () => ({
  count: 40,
  missing: [],
  entries: handles.map((handle, at) => ranked(handle, at === 17 ? null : at)),
});

describe('a user record that lacks a field', () => {
  const { bio: _, ...without } = user;

  test('is printed unchanged, with one notice, and cached', async () => {
    const service = await withService(() => ({ body: without }));
    const home = openHome();
    const first = await home.run(['whois', WALLET, '--direct'], { sandbox: service });
    expect([first.exitCode, first.records()]).toEqual([
      0,
      [{ subject: WALLET, found: true, ...without }],
    ]);
    expect(notices(first.stderr)).toEqual([
      'trdr: the answer of GET /v2/user/wallet/{address} differs from the service description: bio is missing',
    ]);
    const again = await home.run(['whois', WALLET, '--direct'], {
      sandbox: service,
      differs: true,
    });
    expect([again.records(), again.stderr, service.calls.length]).toEqual([first.records(), '', 1]);
  });

  test('is reported once for a list, and not at all with --quiet', async () => {
    const service = await withService(() => ({ body: without }));
    const words = ['whois', 'mira', 'sol', WALLET, user.id, '--no-cache', '--direct'];
    expect(notices((await runInProcess(words, { sandbox: service })).stderr)).toHaveLength(1);
    expect((await runInProcess([...words, '-q'], { sandbox: service, differs: true })).stderr).toBe(
      '',
    );
  });
});

describe('a batch answer without entries for some handles', () => {
  const answer = (entries: readonly unknown[], missing: readonly unknown[] = []): Reply => ({
    body: { count: entries.length, entries, missing },
  });

  test("reports them as failed, requests them once, and never returns another trader's numbers", async () => {
    const service = await withService(() => answer([numbers('mira'), numbers('stranger')]));
    const ran = await runInProcess('pnl mira sol -y', { sandbox: service });
    expect([ran.exitCode, service.calls.length]).toEqual([0, 1]);
    expect(ran.records()).toEqual([
      { subject: 'mira', found: true, ...numbers('mira') },
      {
        subject: 'sol',
        found: null,
        error: expect.objectContaining({ code: 'NO_ENTRY', unmatched: [numbers('stranger')] }),
      },
    ]);
  });

  test('has the entries for other handles in a CSV too, as rows that are not found', async () => {
    const service = await withService(() => answer([numbers('mira'), numbers('stranger')]));
    const words = ['pnl', 'mira', 'sol', '-y', '-o', 'csv', '--window', '24h'];
    const ran = await runInProcess(words, { sandbox: service });
    const cells = ran.lines().map((line) => line.split(',').slice(0, 5).join(','));
    expect(cells.slice(1)).toEqual([
      'mira,true,ok,,mira',
      'sol,,failed,NO_ENTRY,',
      'sol,,unmatched,NO_ENTRY,stranger',
    ]);
  });

  test.each([
    ['entries of others', answer([numbers('stranger')])],
    ['nothing', answer([])],
    ['no lists', { body: { entries: null } }],
  ])('exits 9 if it has %s, also in an export', async (_, reply) => {
    const service = await withService(() => reply);
    const home = openHome();
    for (const out of [[], ['--out', home.at('n.csv')]]) {
      const before = service.calls.length;
      const ran = await home.run(['pnl', ...handles, 'more', '-y', ...out], { sandbox: service });
      expect([ran.exitCode, service.calls.length - before]).toEqual([9, 1]);
      expect(ran.error()).toMatchObject({ code: 'NO_ENTRY', exit: 9 });
    }
  });
});

describe("a key's record that lacks a field", () => {
  const me = (usage: Readonly<Record<string, unknown>>) => ({ ...anyMe, usage });
  const run = async (words: CommandLine, record: unknown) => {
    const service = await withService(
      ({ path }) => (path === '/v2/me' ? { body: record } : { body: batch() }),
      { ownMe: true },
    );
    return await runInProcess(words, { sandbox: service });
  };
  const { additionalUnits: _, ...withoutTopUps } = anyMe.usage;

  test('still decides its thresholds, and does not block an expensive run', async () => {
    expect((await run('me --min-units 1M', me(withoutTopUps))).exitCode).toBe(0);
    expect((await run('me --min-units 21M', me(withoutTopUps))).exitCode).toBe(6);
    expect((await run(['pnl', ...handles, '-y'], me(withoutTopUps))).exitCode).toBe(0);
    expect((await run(['pnl', ...handles, '-y'], { plan: 7 })).exitCode).toBe(0);
  });
});

const authorId = '3f679da5-8c94-4e2e-a551-213b7510858f';

describe('a page of unusual posts', () => {
  const post = (id: unknown, more: object = {}) => ({
    id,
    authorHandle: 'mira',
    thesis: 'up only',
    likeCount: 3,
    platformCreatedAt: 1_760_000_000_000,
    ...more,
  });
  const items = [
    post('a', { likeCount: 1.5 }),
    post('b', { platformCreatedAt: '2026-05-15T12:00:00Z' }),
    post('c', { thesis: { text: 'nested' }, authorHandle: 7 }),
    post(null),
    post(12, { pnl: 'much' }),
  ];
  const page = { count: 5, hasMore: false, nextBefore: null, updatedAt: null, items };

  test('shows values of another type as text', async () => {
    const service = await withService(() => ({ body: page }));
    const ran = await runInProcess('thesis list -o table --wide', {
      sandbox: service,
      columns: 200,
    });
    for (const text of ['1.5', '{"text":"nested"}', 'much']) expect(ran.stdout).toContain(text);
  });

  test('does not make a walk endless if no post has a time to compare with --since', async () => {
    let pages = 0;
    const service = await withService(() => ({
      body: {
        ...page,
        hasMore: true,
        nextBefore: `p${++pages}`,
        items: [post(`x${pages}`, { platformCreatedAt: 'now' })],
      },
    }));
    const ran = await runInProcess('thesis list --since 1h', {
      sandbox: service,
      clock: virtualClock(),
    });
    expect([ran.exitCode, ran.error()['code']]).toEqual([9, 'NO_TIMES']);
    expect(ran.records().length).toBe(service.calls.length);
    expect(service.calls.length).toBeLessThanOrEqual(5);
  });

  const otherId = '8f679da5-8c94-4e2e-a551-213b7510858f';
  test.each([
    ['thesis list --since 1h', 2],
    ['thesis list --since 1h --limit 1', 1],
    ['thesis list --until 1h', 0],
    [`thesis list --user ${authorId} --user ${otherId} --since 1h`, 4],
    [`thesis list --user ${authorId} --user ${otherId} --since 1h --limit 1`, 1],
    [`thesis list --user ${authorId} --user ${otherId} --until 1h`, 0],
    [`author ${authorId} --since 1h`, 1],
    [`token ${WALLET} --since 1h`, 1],
  ])('ends %s, and prints what was paid for, if no post has a time', async (line, rows) => {
    const untimed = ['a', 'b'].map((id) => post(id, { platformCreatedAt: null, authorId }));
    const service = await withService(({ path }) => ({
      body: { ...page, items: path.includes('launchpad') ? [] : untimed },
    }));
    const ran = await runInProcess(line, { sandbox: service, clock: virtualClock() });
    expect([ran.exitCode, ran.error()['code']]).toEqual([9, 'NO_TIMES']);
    expect(ran.records().length).toBe(rows);
  });
});
