import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readText } from './feed.ts';
import { openHome, runInProcess, withSandbox } from './harness.ts';
import { withService } from './service.ts';

const NOW = Date.UTC(2026, 6, 1, 12);

const post = {
  id: 't1',
  authorHandle: 'mira',
  thesis: 'tab\there, line\nend, back\\slash | pipe [x](javascript:1) <b>',
  platformCreatedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  updatedAt: null,
  extra: { createdAt: 1, tier: { name: 'gold' } },
};
const page = { count: 1, hasMore: false, nextBefore: null, updatedAt: null, items: [post] };
const list = ['thesis', 'list', '--limit', '1'];

async function ran(argv: readonly string[], flags: Parameters<typeof runInProcess>[1] = {}) {
  const service = await withService(() => ({ body: page }));
  return await runInProcess(argv, { sandbox: service, env: { NO_COLOR: '1', LANG: 'C.UTF-8' }, ...flags });
}

describe('-o tsv', () => {
  test('has one line per record, whose tabs and line ends are escaped', async () => {
    const { stdout } = await ran([...list, '-o', 'tsv', '--fields', 'id,thesis,updatedAt,extra.tier.name']);
    expect(stdout).toBe(
      'id\tthesis\tupdatedAt\textra.tier.name\nt1\ttab\\there, line\\nend, back\\\\slash | pipe [x](javascript:1) <b>\t\tgold\n',
    );
  });

  test('has the fields of CSV and is chosen by the extension of --out', async () => {
    const home = openHome();
    const [tsv, csv] = [join(home.path, 'a.tsv'), join(home.path, 'a.csv')];
    await ran([...list, '--out', tsv], { home });
    await ran([...list, '--out', csv], { home });
    const head = (file: string) => readFileSync(file, 'utf8').split('\n')[0];
    expect(head(tsv)?.split('\t')).toEqual(head(csv)?.split(','));
  });

  test('has the rows of CSV for numbers of traders', async () => {
    const sandbox = await withSandbox({ now: NOW });
    const words = ['pnl', 'mira', 'quantumhawk', '--yes', '--window', '7d'];
    const [tsv, csv] = [
      await runInProcess([...words, '-o', 'tsv'], { sandbox }),
      await runInProcess([...words, '-o', 'csv'], { sandbox }),
    ];
    expect(tsv.stdout.split('\n').map((line) => line.split('\t').length)).toEqual([18, 18, 18, 1]);
    expect(tsv.stdout.split('\n')[1]?.split('\t').slice(0, 3)).toEqual(['mira', 'true', 'ok']);
    expect(csv.stdout.split('\n')).toHaveLength(4);
  });
});

describe('-o markdown', () => {
  test('is a table whose text renders as text', async () => {
    const { stdout } = await ran([
      ...list,
      '-o',
      'markdown',
      '--fields',
      'authorHandle,thesis,platformCreatedAt',
      '--utc',
    ]);
    expect(stdout).toBe(
      [
        '| authorHandle | thesis | platformCreatedAt (UTC) |',
        '| --- | --- | --- |',
        '| @mira | tab here, line end, back\\\\slash \\| pipe \\[x\\](javascript:1) \\<b\\> | 2026-01-02 03:04:05 |',
        '',
      ].join('\n'),
    );
  });

  test('states the UTC offset of times once, in the title', async () => {
    const words = [...list, '-o', 'markdown', '--fields', 'platformCreatedAt'];
    const { stdout } = await ran(words, { env: { TZ: 'Asia/Kolkata' } });
    expect(stdout.split('\n')).toEqual([
      '| platformCreatedAt (UTC+5:30) |',
      '| --- |',
      '| 2026-01-02 08:34:05 |',
      '',
    ]);
  });

  test('aligns numbers to the right and shortens nothing', async () => {
    const sandbox = await withSandbox({ now: NOW });
    const words = ['pnl', 'mira', 'quantumhawk', '--yes', '-o', 'markdown'];
    const { stdout } = await runInProcess(words, { sandbox });
    const lines = stdout.split('\n');
    expect(lines[1]).toContain('---:');
    expect(lines).toHaveLength(2 + 8 + 1);
    const whois = await runInProcess(['whois', 'mira', '-o', 'markdown'], { sandbox });
    expect(whois.stdout).toMatch(/\| [1-9A-HJ-NP-Za-km-z]{32,44} \|/);
  });
});

describe('--times', () => {
  test('iso converts the known timestamps, and leaves unknown fields unchanged', async () => {
    const { json } = await ran([...list, '--json', '--times', 'iso']);
    expect(json()).toMatchObject([
      { platformCreatedAt: '2026-01-02T03:04:05.000Z', updatedAt: null, extra: { createdAt: 1 } },
    ]);
    const csv = await ran([...list, '-o', 'csv', '--times', 'iso', '--fields', 'platformCreatedAt']);
    expect(csv.stdout).toBe('platformCreatedAt\n2026-01-02T03:04:05.000Z\n');
  });

  test('ms is the default', async () => {
    const [plain, ms] = [await ran(list), await ran([...list, '--times', 'ms'])];
    expect(plain.stdout).toBe(ms.stdout);
    expect(plain.stdout).toContain(`"platformCreatedAt":${post.platformCreatedAt}`);
  });
});

describe('--bom', () => {
  test('starts CSV with a byte order mark', async () => {
    const { stdout } = await ran([...list, '-o', 'csv', '--bom', '--fields', 'id']);
    expect(stdout).toBe('\ufeffid\nt1\n');
  });

  test('is rejected for any other format', async () => {
    const { exitCode, error } = await ran([...list, '--bom']);
    expect([exitCode, error()['message']]).toEqual([2, '--bom requires CSV, but the output is ndjson']);
  });
});

describe('--out', () => {
  test.each(['a.xlsx', 'a.txt', 'a.csv.gz', 'a.XLSX'])(
    'rejects %s without -o, and writes nothing',
    async (name) => {
      const home = openHome();
      const file = join(home.path, name);
      const { exitCode, error } = await ran([...list, '--out', file], { home });
      expect([exitCode, existsSync(file)]).toEqual([2, false]);
      expect(error()['hint']).toContain('-o');
      expect((await ran([...list, '-o', 'csv', '--out', file], { home })).exitCode).toBe(0);
      expect(readFileSync(file, 'utf8')).toMatch(/^id,/);
    },
  );

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
    const file = join(home.path, name);
    expect((await ran([...list, '--out', file], { home })).exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toMatch(start);
  });
});

describe('--fields', () => {
  test('accepts an undocumented nested name that the service sends', async () => {
    const { stdout } = await ran([...list, '--fields', 'extra.tier.name,id']);
    expect(stdout).toBe('{"extra":{"tier":{"name":"gold"}},"id":"t1"}\n');
  });

  test('rejects a nested name that the first record does not have', async () => {
    const { exitCode, stdout, error } = await ran([...list, '--fields', 'extra.shape.kind']);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(error()['message']).toMatch(
      /^unknown field "extra.shape.kind": the first record does not have it; /,
    );
  });

  test('accepts an undocumented name once a record was seen to have it', async () => {
    const home = openHome();
    const words = [...list, '--fields', 'extra,id'];
    const unknown = await ran(words, { home });
    expect([unknown.exitCode, unknown.stdout]).toEqual([2, '']);
    await ran(list, { home });
    expect((await ran(words, { home })).stdout).toMatch(/^\{"extra":\{.*\},"id":"t1"\}\n/);
    const csv = await ran([...words, '-o', 'csv'], { home });
    expect(csv.stdout.split('\n')[0]).toBe('extra,id');
    expect((await ran([...list, '--fields', 'extras'], { home })).exitCode).toBe(2);
  });

  test('ignores a subject that was not found', async () => {
    const service = await withService(({ path }) =>
      path.endsWith('/nobody')
        ? { status: 404, body: { error: { code: 'NOT_OBSERVED', message: 'no' } } }
        : { body: { id: 'u', handle: 'mira', deep: { er: 1 } } },
    );
    const argv = ['whois', 'nobody', 'mira', '--fields', 'deep.er'];
    const { stdout } = await runInProcess(argv, { sandbox: service });
    expect(stdout).toBe('{"deep":{"er":null}}\n{"deep":{"er":1}}\n');
  });
});

describe('a name in --fields that the first record does not have', () => {
  const wallet = '0x52908400098527886E0F7030069857D2E4169EE7';
  const paid = async (words: string, flags: readonly string[] = []) => {
    const home = openHome();
    const sandbox = await withSandbox({ plan: 'enterprise' });
    const args = [...words.split(' '), '--fields', 'stats.nope', '--yes', ...flags];
    const ran = await runInProcess(args, { sandbox, home });
    expect([ran.exitCode, ran.stdout], ran.stderr).toEqual([2, '']);
    const message = String(ran.error()['message']);
    const [, file] = / paid for (?:are|is) in (.*)$/.exec(message) ?? [];
    const saved = file === undefined ? [] : readText(file).trim().split('\n');
    return { home, sandbox, args, message, file, saved: saved.map((line): unknown => JSON.parse(line)) };
  };

  test.each([
    ['thesis list --limit 60', 20, 200],
    ['thesis list --all -o csv', 20, 200],
    ['thesis list --limit 40 --sort likeCount -o markdown', 40, 400],
    ['launchpad callouts --limit 60 --json', 25, 10],
    ['launchpad board', 100, 10],
    ['whois mira --no-cache', 1, 100],
    ['whois mira quantumhawk --no-cache', 2, 200],
    ['pnl mira --no-cache', 1, 30_000],
    ['pnl mira quantumhawk --no-cache', 2, 60_000],
  ])('requests nothing more and saves what was paid for: %s', async (words, rows, cost) => {
    const { sandbox, message, saved, file = '' } = await paid(words);
    expect(message).toMatch(/^unknown field "stats.nope": the first record does not have it; /);
    expect([saved.length, sandbox.meter().totalUnits]).toEqual([rows, cost]);
    for (const record of saved) expect(Object.keys(Object(record)).length).toBeGreaterThan(5);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each([
    ['thesis tail', 200],
    ['thesis tail --via poll --exec cat', 200],
    ['launchpad tail', 10],
  ])('ends %s at its first page, before anything is streamed', async (words, cost) => {
    const { sandbox, saved } = await paid(words);
    expect([saved.length, sandbox.meter().totalUnits]).toEqual([cost === 10 ? 25 : 20, cost]);
    expect(sandbox.log.map(({ endpoint }) => endpoint)).not.toContain('ws');
  });

  test('is accepted by a tail if the first page has it, although later posts do not', async () => {
    const later = { ...post, id: 't2', platformCreatedAt: post.platformCreatedAt + 1, extra: null };
    let pages = 0;
    const service = await withService(() => ({
      body: { ...page, count: 2, items: pages++ === 0 ? [post] : [later, post] },
    }));
    const words = ['thesis', 'tail', '--via', 'poll', '--lag', '100ms', '--count', '1'];
    const tail = [...words, '--fields', 'id,extra.tier.name'];
    const { stdout } = await runInProcess(tail, { sandbox: service, differs: true });
    expect(stdout).toBe('{"id":"t2","extra":{"tier":{"name":null}}}\n');
  });

  test('leaves cached answers in the cache', async () => {
    const { home, sandbox, message, file } = await paid('whois mira juno');
    expect([file, message]).toEqual([undefined, expect.stringContaining('the answers are cached')]);
    const before = sandbox.meter().totalUnits;
    const again = await runInProcess(['whois', 'mira', 'juno'], { sandbox, home });
    expect([again.records().length, sandbox.meter().totalUnits]).toEqual([2, before]);
  });

  test('does not lose the records printed before it', async () => {
    const out = join(openHome().path, 'out.ndjson');
    const { saved } = await paid(`whois ${wallet} mira --no-cache`, ['--out', out]);
    expect(readText(out).trim().split('\n')).toHaveLength(1);
    expect(saved).toMatchObject([{ subject: 'mira', handle: 'mira' }]);
  });

  test('is reported without a file if nothing was paid for', async () => {
    const ran = await runInProcess(['me', '--fields', 'stats.nope'], { sandbox: await withSandbox() });
    expect([ran.exitCode, ran.error()['message']]).toEqual([
      2,
      'unknown field "stats.nope": the first record does not have it',
    ]);
  });
});

describe('columns of a table', () => {
  const long = `0x${'ab'.repeat(20)}`;
  const wide = { ...post, thesis: `${'word '.repeat(60)}end`, tokenAddress: long, tokenSymbol: null };
  const table = async (...flags: string[]) => {
    const service = await withService(() => ({ body: { ...page, items: [wide] } }));
    const argv = [...list, '-o', 'table', ...flags];
    return (
      await runInProcess(argv, {
        sandbox: service,
        tty: true,
        columns: 60,
        env: { NO_COLOR: '1', LANG: 'C.UTF-8' },
      })
    ).stdout;
  };

  test('named with --fields are not shortened', async () => {
    const shown = await table('--fields', 'id,tokenAddress,thesis');
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
