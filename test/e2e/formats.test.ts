import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openDesk, openHome, runInProcess } from './harness.ts';
import { withService } from './service.ts';

const post = {
  id: 't1',
  authorHandle: 'mira',
  thesis: 'tab\there, line\nend, back\\slash | pipe [x](javascript:1) <b>',
  platformCreatedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  updatedAt: null,
  extra: { createdAt: 1, tier: { name: 'gold' } },
};
const page = { count: 1, hasMore: false, nextBefore: null, updatedAt: null, items: [post] };

/** A list of one post, by a service that has no other. */
async function listed(flags: string, options: Parameters<typeof runInProcess>[1] = {}) {
  const sandbox = await withService(() => ({ body: page }));
  const env = { NO_COLOR: '1', LANG: 'C.UTF-8' };
  return await runInProcess(`thesis list --limit 1 ${flags}`, { sandbox, env, ...options });
}

test('-o tsv has one line per record, whose tabs and line ends are escaped', async () => {
  const { stdout } = await listed('-o tsv --fields id,thesis,updatedAt,.extra.tier.name');
  expect(stdout).toBe(
    'id\tthesis\tupdatedAt\textra.tier.name\nt1\ttab\\there, line\\nend, back\\\\slash | pipe [x](javascript:1) <b>\t\tgold\n',
  );
});

test('-o markdown is a table whose text renders as text', async () => {
  const fields = 'authorHandle,thesis,platformCreatedAt';
  const { lines } = await listed(`-o markdown --fields ${fields} --utc`);
  expect(lines()).toEqual([
    '| authorHandle | thesis | platformCreatedAt (UTC) |',
    '| --- | --- | --- |',
    '| @mira | tab here, line end, back\\\\slash \\| pipe \\[x\\](javascript:1) \\<b\\> | 2026-01-02 03:04:05 |',
  ]);
});

test('--times iso converts the known timestamps, and leaves unknown fields unchanged', async () => {
  const { json } = await listed('--json --times iso');
  expect(json()).toMatchObject([
    { platformCreatedAt: '2026-01-02T03:04:05.000Z', updatedAt: null, extra: { createdAt: 1 } },
  ]);
  const csv = await listed('-o csv --times iso --fields platformCreatedAt');
  expect(csv.stdout).toBe('platformCreatedAt\n2026-01-02T03:04:05.000Z\n');
});

test('--bom starts CSV with a byte order mark', async () => {
  const { stdout } = await listed('-o csv --bom --fields id');
  expect(stdout).toBe('\ufeffid\nt1\n');
});

describe('--out', () => {
  test.each(['a.xlsx', 'a.txt', 'a.csv.gz', 'a.XLSX'])('rejects %s without -o', async (name) => {
    const home = openHome();
    const file = home.at(name);
    const { exitCode, error } = await listed(`--out ${file}`, { home });
    expect([exitCode, existsSync(file)]).toEqual([2, false]);
    expect(error()['hint']).toContain('-o');
    expect((await listed(`-o csv --out ${file}`, { home })).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(/^id,/);
  });

  test.each([
    ['a.md', /^\| posted/],
    ['a.MARKDOWN', /^\| posted/],
    ['a.json', /^\[\n/],
    ['a.jsonl', /^\{"id"/],
    ['posts', /^\{"id"/],
    ['posts.2026', /^\{"id"/],
    ['.posts', /^\{"id"/],
  ])('takes the format from the name %s', async (name, start) => {
    const home = openHome();
    const file = home.at(name);
    expect((await listed(`--out ${file}`, { home })).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(start);
  });
});

test.each([
  ['a list at its limit', ['thesis', 'list', '--all', '--max-cu', '3000'], 6],
  ['raw pages at the limit', ['api', '/v2/thesis?limit=20', '--paginate', '--max-cu', '3000'], 6],
  ['a list whose pages fail', ['thesis', 'list', '--limit', '400', '--retries', '0'], 9],
])('--out keeps the paid rows of %s beside the unchanged file', async (_, words, code) => {
  const faults = code === 9 ? { faults: '500@thesis.*+1' } : {};
  const { home, run } = await openDesk({ plan: 'enterprise', ...faults });
  const out = home.write('all.ndjson', 'old\n');
  const { exitCode, error } = await run([...words, '--yes', '--out', out]);
  expect(exitCode).toBe(code);
  expect(error()['message']).toMatch(
    /; .*all\.ndjson was not replaced; the rows .* are in .*all\.ndjson\.partial$/,
  );
  expect(readFileSync(out, 'utf8')).toBe('old\n');
  expect(readFileSync(`${out}.partial`, 'utf8')).toMatch(/^\{.*\}\n$/s);
});

describe('--fields', () => {
  test.each([
    ['ndjson', '{"extra":{"tier":{"name":"gold"}},"id":"t1"}\n'],
    ['json', '[\n{"extra":{"tier":{"name":"gold"}},"id":"t1"}\n]\n'],
    ['csv', 'extra.tier.name,id\ngold,t1\n'],
    ['tsv', 'extra.tier.name\tid\ngold\tt1\n'],
    ['markdown', '| extra.tier.name | id |\n| --- | --- |\n| gold | t1 |\n'],
    ['table', 'extra.tier.name  id\n───────────────  ──\ngold             t1\n'],
  ])('with a leading dot selects a field of no schema, in %s', async (format, expected) => {
    const { stdout } = await listed(`-o ${format} --fields .extra.tier.name,id`);
    expect(stdout).toBe(expected);
  });

  test.each([
    ['.extra', '{"extra":null}\n{"extra":{"er":1}}\n'],
    ['.extra.er,.none', '{"extra":{"er":null},"none":null}\n{"extra":{"er":1},"none":null}\n'],
  ])('with a leading dot is null if a record lacks the field: %s', async (fields, expected) => {
    const service = await withService(({ path }) =>
      path.endsWith('/nobody')
        ? { status: 404, body: { error: { code: 'NOT_OBSERVED', message: 'no' } } }
        : { body: { id: 'u', handle: 'mira', extra: { er: 1 } } },
    );
    const ran = await runInProcess(`whois nobody mira --fields ${fields}`, { sandbox: service });
    expect([ran.exitCode, ran.stdout]).toEqual([0, expected]);
  });

  test.each([
    ['thesis list', 'extra'],
    ['thesis list -o csv --user mira', 'extra.tier.name'],
    ['pnl mira solwolf --out numbers.csv', 'nosuch'],
    ['whois mira', 'socials.new'],
    ['pnl mira', 'windows.24h.new'],
    ['me', 'stats.nope'],
    ['usage --reconcile', 'nope'],
    ['thesis tail', 'extra'],
    ['launchpad tail --exec cat', 'extra'],
    ['launchpad board', '..'],
    ['launchpad board --compare 1d', 'extra'],
    ['launchpad callouts --since 1d', 'extra'],
    ['launchpad user mira', 'extra'],
    ['thesis list --until 1d', 'extra'],
    ['resolve mira', 'extra'],
    ['doctor', 'extra'],
    ['auth status --check', 'extra'],
    [
      `whois ${Array.from({ length: 4 }, (_, at) => `${'1'.repeat(31)}${at + 2}`).join(' ')}`,
      'extra',
    ],
  ])('rejects an unknown name before anything is sent: %s', async (words, name) => {
    const { sandbox, run } = await openDesk();
    const { exitCode, error } = await run([...words.split(' '), '--fields', name]);
    expect([exitCode, error()['message']]).toEqual([2, `unknown field "${name}"`]);
    expect(sandbox.log).toEqual([]);
  });
});

describe('columns of a table', () => {
  const long = `0x${'ab'.repeat(20)}`;
  const wide = {
    ...post,
    thesis: `${'word '.repeat(60)}end`,
    tokenAddress: long,
    tokenSymbol: null,
  };
  const table = async (flags: string) => {
    const sandbox = await withService(() => ({ body: { ...page, items: [wide] } }));
    return (await listed(`-o table ${flags}`, { sandbox, tty: true, columns: 60 })).stdout;
  };

  test('named with --fields are not shortened', async () => {
    const shown = await table('--fields id,tokenAddress,thesis');
    expect(shown).toContain(long);
    expect(shown).not.toContain('…');
    expect(shown.match(/word/g)).toHaveLength(60);
  });

  test('are all shown in full, each record on one line, with --wide', async () => {
    const shown = await table('--wide');
    expect(shown).toContain(`${'word '.repeat(60)}end`);
    expect(shown).toContain(long);
    expect(shown.trimEnd().split('\n')).toHaveLength(3);
  });
});
