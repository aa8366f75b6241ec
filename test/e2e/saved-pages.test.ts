import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isRecord } from '../../src/base/json-object.ts';
import { recordsOf } from '../../src/contract/read-record.ts';
import { some } from '../repeats.ts';
import type { Sandbox, SandboxOptions } from '../sandbox/service.ts';
import { startServer } from '../store/server.ts';
import { has } from '../tools.ts';
import { ahead, openDesk, openHome, thesesOf, withSandbox } from './harness.ts';
import { withService } from './service.ts';

const MINUTE = 60_000;

const token = '51ANFW3SEanjVtu7HdEkV4fsnEp889YZrGmUdx3eo6Tg';

/** The question, and what it costs with more posts or callouts once those of the first one are saved. */
const questions: readonly [line: string, more: readonly string[], cu: number][] = [
  ['author mira solwolf --limit 20', ['--limit', '40'], 400],
  ['author mira --positions', ['--all'], 0],
  ['author mira', ['--token', token], 0],
  [`author mira --token ${token} --limit 20`, ['--limit', '20', '--closed'], 0],
  [`token ${token} --limit 40`, ['--limit', '100'], 600],
  [`token ${token}`, ['--positions'], 0],
  ['launchpad callers mira solwolf', ['--calls'], 0],
  ['launchpad callers --board weekly', ['--calls', '--top', '25'], 50],
];

async function openMeter(options: SandboxOptions = {}) {
  const desk = await openDesk(options);
  const { sandbox, run } = desk;
  /** What a question costs by the meter, and at least and at most by its dry run. */
  async function ask(words: readonly string[], more: Parameters<typeof run>[1] = {}) {
    const calls = (await run([...words, '--dry-run'], more)).records();
    const sum = (field: 'least' | 'most') =>
      calls.reduce((total, call) => total + Number(call[field] ?? Number.POSITIVE_INFINITY), 0);
    const before = spentAt(sandbox);
    const ran = await run(words, more);
    const cu = spentAt(sandbox) - before;
    const [least, most] = [sum('least'), sum('most')];
    expect(cu).toBeGreaterThanOrEqual(least);
    expect(cu).toBeLessThanOrEqual(most);
    return { ...ran, cu, most };
  }
  return { ...desk, ask };
}

const spentAt = (sandbox: Sandbox): number => sandbox.meter().totalUnits;

/** A service whose pages of theses have at most so many rows, whatever limit is asked for. */
const capped = (most: number): SandboxOptions => ({
  reading: (page, endpoint) => {
    if (!isRecord(page) || !endpoint.startsWith('thesis')) return page;
    const all = recordsOf(page['items']);
    if (all.length <= most) return page;
    const items = all.slice(0, most);
    return { ...page, items, count: most, hasMore: true, nextBefore: items.at(-1)?.['id'] };
  },
});

describe('a price that was stated before', () => {
  const long: readonly string[] = [
    'author mira --limit 130',
    'author mira solwolf --limit 400',
    `token ${token} --limit 119`,
    `token ${token} --limit 120`,
    'thesis list --limit 300',
    `thesis list --token ${token} --limit 140`,
  ];
  test.each(some(long, 3))('holds if no page has more than 20 posts: %s', async (line) => {
    const { ask } = await openMeter(capped(20));
    const words = line.split(' ');
    const { stderr } = await ask(words);
    expect(stderr).toBe('');
    // Some of the pages are saved.
    for (const limit of ['150', '500']) await ask([...words.slice(0, -1), limit]);
  });

  test.each(['author mira --limit 40', `token ${token} --limit 40`, 'thesis list --limit 40'])(
    'is named beside the true one if pages are short: %s',
    async (line) => {
      const { run } = await openMeter(capped(7));
      const { said } = await run(line);
      expect(said).toMatch(/1,\d\d\d CU is more than the [4-6]\d\d CU that were expected/);
    },
  );
});

describe('posts that were paid for', () => {
  test.each(questions)('are not paid for again: %s', async (line, more, cu) => {
    const { ask, home } = await openMeter();
    const words = line.split(' ');
    const first = await ask(words);
    const again = await ask(words);
    expect([again.cu, again.most]).toEqual([0, 0]);
    expect(again.records()).toEqual(first.records());
    if (first.stdout.includes('"via"')) {
      expect(again.stdout).toContain('"via":"cache"');
      const readAt = (text: string) => text.match(/"readAt":\d+/g);
      expect(readAt(again.stdout)).toEqual(readAt(first.stdout));
    }
    const flags = words.indexOf('--limit') < 0 ? words : words.slice(0, words.indexOf('--limit'));
    expect((await ask([...flags, ...more])).cu).toBe(cu);
    // The pages on the disk may be damaged, or gone.
    rmSync(home.cache, { recursive: true });
    expect((await ask([...flags, ...more])).cu).toBeGreaterThan(0);
  });

  test('of an author have those about a token, if they are all', async () => {
    const { ask } = await openMeter();
    const about = ['author', 'mira', '--token', token];
    await ask(['author', 'mira', '--limit', '20']);
    expect((await ask([...about, '--limit', '1'])).cu).toBe(200);
    await ask(['author', 'mira', '--max-age', '0', '--all']);
    for (const more of [[], ['--limit', '2'], ['--positions']]) {
      const [read, saved] = [
        await ask([...about, ...more, '--no-cache']),
        await ask([...about, ...more]),
      ];
      expect([read.cu > 0, saved.cu]).toEqual([true, 0]);
      const bare = ({ records }: typeof read) =>
        records().map((row) => ({ ...row, readAt: 0, via: '' }));
      expect(bare(saved)).toEqual(bare(read));
    }
  });

  test('of an author say nothing of a token if one of them does not say what it is about', async () => {
    const id = '7d0a0f3e-7a55-4c0e-9a36-000000000001';
    const at = Date.now() - MINUTE;
    const posts = ['p1', 'p2', 'p3'].map((post, index) => ({
      ...{ id: post, authorId: id, platformCreatedAt: at - index * MINUTE },
      ...(post !== 'p2' && { tokenAddress: token }),
    }));
    const body = { hasMore: false, nextBefore: null, items: posts };
    const service = await withService(() => ({ body }));
    const home = openHome();
    const ask = async (...more: string[]) =>
      (
        await home.run(['author', id, ...more, '-o', 'ndjson'], { sandbox: service, differs: true })
      ).records();
    await ask();
    const [record] = await ask('--token', token);
    expect(record).toMatchObject({ posts: 3, complete: true, beside: { withoutToken: 1 } });
    expect(service.calls).toHaveLength(2);
  });

  test('are read again when they are too old, or on demand', async () => {
    const { ask } = await openMeter();
    const words = ['author', 'mira', '--limit', '20'];
    expect((await ask(words)).cu).toBe(300);
    expect((await ask(words, { clock: ahead(9 * MINUTE) })).cu).toBe(0);
    // The handle is known for an hour.
    expect((await ask(words, { clock: ahead(11 * MINUTE) })).cu).toBe(200);
    expect((await ask([...words, '--max-age', '1m'], { clock: ahead(13 * MINUTE) })).cu).toBe(300);
    expect((await ask([...words, '--max-age', '1d'], { clock: ahead(300 * MINUTE) })).cu).toBe(0);
    expect((await ask([...words, '--no-cache'])).cu).toBe(300);
    expect((await ask(['author', 'mira', '--since', '40d', '--until', '20d'])).cu).toBeGreaterThan(
      0,
    );
    expect((await ask(['author', 'mira', '--since', '40d', '--until', '20d'])).cu).toBe(0);
  });

  test.each(['author mira', `token ${token}`])('on a card have a time: %s', async (line) => {
    const { run } = await openMeter();
    const words = [...line.split(' '), '-o', 'table'];
    // It is the time of the oldest page, and not said of posts that this run has read.
    const first = await run([...words, '--limit', '20']);
    expect(first.stdout).not.toMatch(/^ *read {2}/m);
    const clock = ahead(5 * MINUTE);
    const more = await run([...words, '--limit', '40'], { clock });
    expect(more.stdout).toMatch(/^ *read {2}/m);
    const fresh = await run([...words, '--limit', '40', '--no-cache'], { clock });
    expect(fresh.stdout).not.toMatch(/^ *read {2}/m);
  });

  test.each([
    'author mira solwolf',
    'author mira solwolf --positions',
    'launchpad callers mira solwolf',
  ])('of a table have an age: %s', async (line) => {
    const { run } = await openMeter();
    const words = [...line.split(' '), '-o', 'table'];
    const ages = async (...more: Parameters<typeof run>) =>
      (await run(...more)).stderr.match(/found(?:, read up to (\w+) ago)?,/)?.[1];
    const terminal = { tty: { stderr: true }, clock: ahead(5 * MINUTE) };
    expect(await ages(words, { tty: { stderr: true } })).toBeUndefined();
    expect(await ages(words, terminal)).toBe('5m');
    expect(await ages([...words, '--no-cache'], terminal)).toBeUndefined();
  });

  test('are not mixed with posts of a later walk', async () => {
    const { ask, sandbox } = await openMeter();
    const words = ['author', 'mira', '--limit', '40', '--positions'];
    const old = await ask(words);
    const theses = sandbox.world.theses();
    const newest = thesesOf(sandbox).find(({ authorHandle }) => authorHandle === 'mira');
    if (newest === undefined) throw new Error('the sandbox has no thesis by mira');
    for (const name of ['a', 'b', 'c']) theses.add({ ...newest, id: `${newest.id}${name}` });
    expect((await ask(words)).records()).toEqual(old.records());
    // This walk has other pages, of which it reads the first one: between it and the second one of
    // the earlier walk, posts would be missing.
    await ask(['author', 'mira', '--limit', '20', '--max-age', '0']);
    const mixed = await ask(words);
    expect(mixed.cu).toBe(200);
    const fresh = await ask([...words, '--max-age', '0']);
    const bare = ({ records }: typeof mixed) => records().map((row) => ({ ...row, readAt: 0 }));
    expect(bare(mixed)).toEqual(bare(fresh));
    expect(bare(fresh)).not.toEqual(bare(old));
  });

  test.skipIf(!has('redis-server'))('are not paid for by another machine either', async () => {
    const sandbox = await withSandbox();
    const env = { TRDR_STORE: (await startServer()).url };
    const ask = async (...more: string[]) => {
      const before = spentAt(sandbox);
      const ran = await openHome().run(['author', 'mira', ...more], { sandbox, env });
      return { ...ran, cu: spentAt(sandbox) - before };
    };
    const first = await ask('--limit', '40');
    const second = await ask('--limit', '40');
    expect([first.cu, second.cu]).toEqual([500, 0]);
    expect(second.records()).toEqual(first.records());
    expect(second.stdout).toContain('"via":"cache"');
    expect((await ask('--limit', '40', '--no-cache')).cu).toBe(500);
    const both = await Promise.all([ask('--all'), ask('--all')]);
    expect(both.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    // Only the third page was not read before.
    expect(both[0].records()).toEqual(both[1].records());
    expect(spentAt(sandbox)).toBe(500 + 500 + 200);
  });

  test('are compared with an earlier output only if they are new', async () => {
    const { ask } = await openMeter();
    const { stdout } = await ask(['author', 'mira', '--positions']);
    const compare = ['author', 'mira', '--compare', '-'];
    expect((await ask(compare, { stdin: stdout })).cu).toBeGreaterThan(0);
    expect((await ask([...compare, '--max-age', '1h'], { stdin: stdout })).cu).toBe(0);
  });
});
