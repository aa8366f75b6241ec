import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type CommandLine, openHome, recordsIn, runInProcess, wordsOf } from './harness.ts';
import { recordsOf, someHandles, withNumbers } from './numbers.ts';
import { withService } from './service.ts';

const HANDLES = ['mira', 'nosuch', 'solwolf', 'nowallet', 'quiet', 'evil', '0xMert'];
const files = ['all.ndjson', 'all.json', 'all.csv', 'all.tsv'] as const;

/** A user with an export of these handles in every format that can be read back. */
async function exported(handles: readonly string[] = HANDLES, more: readonly string[] = []) {
  const sandbox = await withNumbers();
  const home = openHome();
  const run = (words: CommandLine, options: Parameters<typeof runInProcess>[1] = {}) =>
    home.run(['pnl', ...wordsOf(words)], { sandbox, ...options });
  // The first answers come from the service, all others from the cache: only then are the files the same.
  await run('- -y -q', { stdin: handles.join('\n') });
  for (const name of files) {
    const { exitCode, stderr } = await run(['-', '-y', '--out', name, ...more], {
      stdin: handles.join('\n'),
    });
    if (exitCode !== 0) throw new Error(stderr);
  }
  await sandbox.close();
  return { run, home, text: home.read, sandbox };
}

describe('--from', () => {
  test('converts an export of any format to any other, byte for byte, without a service', async () => {
    const { run, text } = await exported(
      // CSV does not contain the control characters of this handle.
      [...HANDLES, ...someHandles(40)].filter((handle) => handle !== 'evil'),
    );
    for (const from of files) {
      for (const to of ['all.csv', 'all.tsv'] as const) {
        const { exitCode, stdout, stderr } = await run(['--from', from, '-o', to.slice(4)]);
        expect([from, to, exitCode, stderr, stdout]).toEqual([from, to, 0, '', text(to)]);
      }
      const { stdout } = await run(['--from', from, '-o', 'ndjson']);
      expect(recordsIn(stdout)).toEqual(recordsIn(text('all.ndjson')));
    }
    expect((await run('--from all.json -o ndjson')).stdout).toBe(text('all.ndjson'));
    expect((await run('--from all.ndjson --json')).stdout).toBe(text('all.json'));
  });

  test('reads an export that a spreadsheet has saved with semicolons and decimal commas, or with tabs', async () => {
    const { run, text, home } = await exported(['mira', 'solwolf', 'nosuch', 'nowallet']);
    const rows = text('all.tsv')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split('\t'));
    const save = (name: string, separator: string, write: (cell: string) => string) =>
      writeFileSync(
        home.at(name),
        rows.map((cells) => `${cells.map(write).join(separator)}\r\n`).join(''),
      );
    save('one.csv', ';', (cell) => (/^-?\d+\.\d+$/.test(cell) ? cell.replace('.', ',') : cell));
    save('one.txt', '\t', (cell) => cell);
    expect(text('one.csv')).toMatch(/;-?\d+,\d+;/);
    for (const name of ['one.csv', 'one.txt']) {
      const { stdout, stderr } = await run(['--from', name, '-o', 'tsv']);
      expect([stderr, stdout]).toEqual(['', text('all.tsv')]);
    }
  });

  test('sorts, and draws the same table as the service would give', async () => {
    const { run, sandbox } = await exported();
    const words = ['--window', '7d', '--sort', 'volumeUsd'];
    const table = { tty: true, columns: 100, env: { NO_COLOR: '1', LANG: 'C.UTF-8' } };
    const fresh = await run([...HANDLES, ...words, '-y'], table);
    const file = await run(['--from', 'all.csv', ...words], table);
    expect(file.stdout).toBe(fresh.stdout);
    expect(file.stdout).toContain('cash flow 7d');
    expect(sandbox.meter().totalUnits).toBe(6 * 30_000 + 200);
  });

  test('selects handles in the order given, and names those that the file lacks', async () => {
    const { run } = await exported();
    const { exitCode, records, stderr } = await run(
      'x.com/solwolf other @@MIRA --from all.csv -o ndjson',
    );
    expect([exitCode, records()]).toEqual([0, recordsOf(['solwolf', 'mira'])]);
    expect(stderr).toMatch(/not found in .*all.csv \(1 handle\): other/);
    expect((await run('other --from all.csv')).exitCode).toBe(3);
    const strict = await run('mira other --from all.csv --strict');
    expect([strict.exitCode, strict.error()]).toMatchObject([
      10,
      { message: '1 missing, 0 failed, 1 found' },
    ]);
    expect(
      (await run('mira --from all.csv', { tty: true, env: { NO_COLOR: '1' } })).stdout,
    ).toMatch(/^@mira\n/);
  });

  test('rejects the file that it reads as its output, and a file that it cannot read', async () => {
    const { run, text, home } = await exported();
    const whole = text('all.csv');
    const same = await run('--from all.csv --window 7d --out all.csv');
    expect([same.exitCode, text('all.csv')]).toEqual([2, whole]);
    const before = text('all.ndjson');
    home.write('torn.ndjson', before.slice(0, -20));
    const torn = await run('--from torn.ndjson --out all.csv');
    expect([torn.exitCode, text('all.csv')]).toEqual([2, whole]);
    expect(torn.error()['message']).toContain(`line ${HANDLES.length}`);
  });

  test('shows the windows that the file has', async () => {
    const { run, text } = await exported(HANDLES, ['--window', '7d,30d']);
    expect((await run('--from all.csv -o csv')).stdout).toBe(text('all.csv'));
    const { exitCode, error } = await run('--from all.csv --window 24h -o csv');
    expect([exitCode, error()['hint']]).toEqual([2, 'choose from 7d, 30d']);
  });

  test.each(['0', '12', '1795910000', '"2026"'])(
    'leaves other values than ISO times as they are: %s',
    async (time) => {
      const stdin = `{"subject":"mira","found":true,"wallet":"w","updatedAt":${time},"windows":{"all":null}}\n`;
      const { stdout } = await runInProcess('pnl --from - -o csv', { stdin });
      expect(stdout).toContain(`,${JSON.parse(time)},all,`);
      expect((await runInProcess('pnl --from - -o csv', { stdin: stdout })).stdout).toBe(stdout);
    },
  );

  test('reads numbers next to a column of other windows', async () => {
    const records = [
      { subject: 'a', found: true, windows: 'none' },
      { subject: 'b', found: true, windows: { '7d': { netUsd: 5 }, '90d': { netUsd: 6 } } },
    ];
    const stdin = records.map((record) => JSON.stringify(record)).join('\n');
    const { stdout } = await runInProcess('pnl --from - -o csv', { stdin });
    expect(stdout).toContain(',none\n');
    const again = await runInProcess('pnl --from - -o csv --fields netUsd', { stdin: stdout });
    expect(again.stdout).toBe('netUsd\n""\n5\n');
  });

  test('reads stdin, files without a known extension, and times written as ISO', async () => {
    const { run, text } = await exported();
    const stdin = text('all.json');
    expect((await run('--from - -o ndjson', { stdin })).stdout).toBe(text('all.ndjson'));
    const iso = (await run('--from all.csv -o csv --times iso --bom')).stdout;
    expect(iso).toMatch(/,20\d\d-\d\d-\d\dT/);
    expect((await run('--from - -o csv', { stdin: iso })).stdout).toBe(text('all.csv'));
  });

  test('keeps digits, unknown fields and disarmed formulas', async () => {
    const body = `{"handle":"mira","displayName":"=1+2;-3","twitter":"'x","wallet":null,"evmWallet":null,"updatedAt":null,"windows":{"24h":{"netUsd":12345678901234567890.10,"returnPct":1e400,"volumeUsd":-0,"trades":1,"rank":1,"extra":"007","updatedAt":5,"more":2.0},"7d":null,"30d":null,"all":null,"90d":{"netUsd":1.50}},"more":[1.10],"status":"vip","rank":8.0}`;
    const sandbox = await withService(async () => ({ body: Buffer.from(body) }));
    const home = openHome();
    const run = (words: readonly string[]) =>
      home.run(['pnl', ...words], { differs: true, sandbox });
    for (const name of ['one.csv', 'one.tsv', 'one.ndjson']) {
      expect((await run(['mira', '--out', name])).exitCode).toBe(0);
      const text = home.read(name);
      expect((await run(['--from', name, '-o', name.slice(4)])).stdout).toBe(text);
      const line = (await run(['--from', name, '-o', 'ndjson'])).stdout;
      expect(line).toContain('"netUsd":12345678901234567890.10,"returnPct":1e400,"volumeUsd":-0');
      expect(line).toContain('"displayName":"=1+2;-3"');
      for (const value of ['007', '[1.10]', '5', '2.0', '1.50', 'vip', '8.0'])
        expect(line).toContain(value);
    }
  });
});

describe('a finished export', () => {
  test('is not changed by --resume, in any format', async () => {
    const { run, text, home } = await exported();
    for (const name of files) {
      const before = text(name);
      const words = [...HANDLES, '--out', name, '--resume', '--no-cache'];
      const { exitCode, stderr } = await run(words);
      expect([exitCode, text(name) === before, existsSync(home.at(`${name}.journal`))]).toEqual([
        0,
        true,
        false,
      ]);
      expect(stderr).toContain(
        `${name} is finished: it contains all 7 handles; nothing was requested`,
      );
      expect((await run([...words, '--dry-run'])).stdout).toBe('');
    }
  });

  test('of other handles is not replaced without --fresh', async () => {
    const { run, text } = await exported();
    const before = text('all.csv');
    const other = await run('mira someone --out all.csv --resume');
    expect([other.exitCode, text('all.csv')]).toEqual([2, before]);
    expect(other.error()['message']).toContain('does not contain 1 handle');
    const again = await run('mira --out all.csv --resume --fresh');
    expect([again.exitCode, text('all.csv').split('\n').length]).toEqual([0, 6]);
  });
});
