import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../sandbox/service.ts';
import { calloutsOf, openDesk, runInProcess, thesesOf } from './harness.ts';
import { receiptOf } from './numbers.ts';
import { withService } from './service.ts';

const TOKEN = '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg';
const terminal = { tty: true, env: { NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' } };

/** The token of which the sandbox has the most theses, and these, newest first. */
function mostNamed(sandbox: Sandbox) {
  const all = thesesOf(sandbox);
  const token = all.find(({ tokenSymbol }) => tokenSymbol === 'MOONCAT')?.tokenAddress ?? '';
  const theses = all.filter(({ tokenAddress }) => tokenAddress === token);
  const callouts = calloutsOf(sandbox).filter(({ coinMint }) => coinMint === token);
  return { token, theses, callouts };
}

type Fields = Record<string, unknown>;
const listIn = (record: Fields | undefined, field: string) => (record?.[field] ?? []) as Fields[];

describe('trdr token', () => {
  test('costs what it says, and states authors, days, callouts and who was first', async () => {
    const { sandbox, home, run } = await openDesk();
    const { token, theses, callouts } = mostNamed(sandbox);
    const planned = (await run(['token', token, '--dry-run'])).records();
    expect(planned.reduce((sum, { most }) => sum + Number(most), 0)).toBe(1_010);
    const [cut] = (await run(['token', token])).records();
    expect(receiptOf(home)).toMatchObject({ cu: 1_010 });
    expect(cut).toMatchObject({ posts: 100, complete: false, first: null });
    expect(cut?.['callouts']).toMatchObject({ posts: 25, complete: false });
    const [all] = (await run(['token', token, '--all'])).records();
    expect(all).toMatchObject({ posts: theses.length, complete: true });
    const ids = new Set(theses.flatMap(({ authorId }) => authorId ?? []));
    const people = [...listIn(all, 'authors'), ...listIn(all, 'devs')];
    expect(new Set(people.map(({ authorId }) => authorId))).toEqual(ids);
    expect(people).toHaveLength(ids.size);
    const devs = theses.flatMap(({ authorIsDev, authorId }) => (authorIsDev ? [authorId] : []));
    expect(new Set(listIn(all, 'devs').map(({ authorId }) => authorId))).toEqual(new Set(devs));
    expect(listIn(all, 'days').reduce((sum, { posts }) => sum + Number(posts), 0)).toBe(
      theses.filter(({ platformCreatedAt }) => platformCreatedAt !== null).length,
    );
    const multiples = callouts.flatMap(({ multiple }) => multiple ?? []).sort((a, b) => a - b);
    const half = multiples.length / 2;
    const median = ((multiples[Math.ceil(half) - 1] ?? 0) + (multiples[Math.floor(half)] ?? 0)) / 2;
    expect(all?.['callouts']).toMatchObject({
      posts: callouts.length,
      complete: true,
      medianMultiple: expect.closeTo(median, 9),
    });
    const brief = (await run(['token', token, '--fields', 'brief'])).records();
    expect(brief).toEqual([expect.objectContaining({ posts: 100, first: null })]);
    const oldest = theses.at(-1);
    expect(all?.['first']).toMatchObject({ author: oldest?.authorHandle, by: 'thesis' });
    // Before a range, others may have posted; after it, nobody was first.
    const [late] = (await run(['token', token, '--since', '3d'])).records();
    expect(late).toMatchObject({ complete: true, first: null });
    const [early] = (await run(['token', token, '--all', '--until', '3d'])).records();
    expect(early).toMatchObject({ complete: true, first: all?.['first'] });
  });

  test.each([
    ['the lower thesis of two at the same time', 5, 'ann'],
    ['the wallet of a callout without a user name', 4, 'W1'],
  ])('names who was first: %s', async (_, calledAt, author) => {
    const at = (minutes: number) => Date.UTC(2026, 0, 1, 0, minutes);
    const theses = ['bob', 'ann'].map((name) => ({
      ...{ id: name, authorId: name, authorHandle: name, tokenAddress: TOKEN, closedAt: null },
      platformCreatedAt: at(5),
    }));
    const call = {
      id: 'c',
      wallet: 'W1',
      userName: null,
      coinMint: TOKEN,
      createdAt: at(calledAt),
    };
    const service = await withService(({ path }) => {
      const items = path.includes('launchpad') ? [call] : theses;
      return { body: { count: items.length, hasMore: false, nextBefore: null, items } };
    });
    const ran = await runInProcess(['token', TOKEN, '--all'], { sandbox: service, differs: true });
    expect(ran.records()[0]?.['first']).toMatchObject({ author });
  });

  test('prints the positions, sorts, and is the same from files', async () => {
    const { sandbox, home, run } = await openDesk();
    const { token, theses } = mostNamed(sandbox);
    const file = home.write('theses.ndjson', theses);
    const [served] = (await run(['token', token, '--all'])).records();
    const offline = { env: { TRDR_API_KEY: '', TRDR_BASE_URL: '' } };
    const recorded = await run(['token', 'mooncat', '--from', file], offline);
    expect(recorded.records()).toEqual([
      { ...served, complete: false, callouts: null, first: null, readAt: null, via: 'file' },
    ]);
    const sorted = await run(
      ['token', token, '--from', file, '--positions', '--sort', 'pnlUsd', '--top', '4'],
      offline,
    );
    const pnls = sorted.records().map(({ pnlUsd }) => Number(pnlUsd));
    expect(pnls).toHaveLength(4);
    expect(pnls).toEqual(pnls.toSorted((one, other) => other - one));
  });

  test.each(['0x12', 'a,b'])('names its argument if it is not a token: %s', async (word) => {
    const { run } = await openDesk();
    const ran = await run(['token', word]);
    expect([ran.exitCode, ran.said]).toEqual([2, expect.stringContaining('TOKEN: ')]);
    expect(ran.said).not.toContain('--token');
    const listed = await run('thesis list --token 0x12');
    expect([listed.exitCode, listed.said]).toEqual([2, expect.stringContaining('--token: ')]);
  });

  test('delivers what was paid for before a limit, and goes without callouts if the key may not read them', async () => {
    const { sandbox, run } = await openDesk();
    const { token } = mostNamed(sandbox);
    const cut = await run(['token', token, '--max-cu', '450']);
    expect([cut.exitCode, cut.records()]).toEqual([
      6,
      [expect.objectContaining({ posts: 40, complete: false, callouts: null })],
    ]);
    const denied = await openDesk({ faults: '403@launchpad.callouts.coin' });
    const { exitCode, records, stderr } = await denied.run(['token', token]);
    expect([exitCode, records()[0]?.['callouts']]).toEqual([0, null]);
    expect(stderr).toContain('the callouts were not read');
  });

  test.each([
    [[], null, undefined, 'none on the launchpad', undefined],
    [[null], null, undefined, '1, complete', undefined],
    [[3, null, 0.5], null, [3, 0.5], '3, complete', 'price 3.0× 0.5×'],
    [[5, 1, 4, 2, 3], 3, undefined, '5, complete', 'price 3.00×, in the median'],
  ])('states multiples: %j', async (multiples, medianMultiple, few, ...texts) => {
    const coinMint = '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg';
    const items = multiples.map((multiple, at) => ({
      ...{ id: `c${at}`, wallet: 'w', coinMint, multiple },
      createdAt: Date.now() - at,
    }));
    const service = await withService(({ path }) => ({
      body: { hasMore: false, nextBefore: null, items: path.includes('launchpad') ? items : [] },
    }));
    const ask = (...more: string[]) =>
      runInProcess(['token', coinMint, ...more], {
        sandbox: service,
        differs: true,
        env: { LANG: 'C.UTF-8' },
      });
    const [record] = (await ask('-o', 'ndjson')).records();
    const callouts = { posts: multiples.length, complete: true, medianMultiple };
    expect(record?.['callouts']).toMatchObject(callouts);
    expect(Reflect.get(Object(record?.['callouts']), 'multiples')).toEqual(few);
    const card = await ask('-o', 'table', '--color', 'never');
    const lineOf = (title: string) =>
      new RegExp(`^  ${title} {2,}(.*)$`, 'm').exec(card.stdout)?.[1];
    expect([lineOf('callouts'), lineOf('since callouts')]).toEqual(texts);
  });

  test.each([80, 120])('shows a card with its authors at %s columns', async (columns) => {
    const { sandbox, run } = await openDesk();
    const { token } = mostNamed(sandbox);
    const { lines, stdout } = await run(['token', token, '--top', '4'], { ...terminal, columns });
    expect(stdout).toMatch(/^\$MOONCAT\n[\s\S]*theses +100, not complete[\s\S]*callouts +25,/);
    expect(stdout).toMatch(/activity +[▁▂▃▄▅▆▇█ ]+\n/);
    expect(lines().filter((line) => line.includes('@')).length).toBeGreaterThanOrEqual(4);
    for (const line of lines()) expect(line.length).toBeLessThanOrEqual(columns);
  });
});
