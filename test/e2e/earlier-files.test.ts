import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openHome } from './harness.ts';

const window = (netUsd: number) => ({ netUsd, returnPct: 1, volumeUsd: 1, trades: 1, rank: 1 });
const trader = (handle: string, windows: object) => ({
  ...{ subject: handle, found: true, handle, displayName: null, avatarUrl: null, twitter: null },
  ...{ followers: null, wallet: null, evmWallet: null, updatedAt: null, windows },
});
const lines = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

const mira = trader('mira', { '7d': window(1) });
const user = { subject: 'mira', found: true, id: '1', handle: 'mira' };
const header = 'subject,found,status,handle,window,netUsd,rank\n';

/** Runs a command line that reads the given files. No service is there to be asked. */
async function ran(words: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const home = openHome();
  for (const [name, text] of Object.entries(files)) home.write(name, text);
  const inHome = words.split(' ').map((word) => (word in files ? home.at(word) : word));
  const env = { TRDR_BASE_URL: 'http://127.0.0.1:1', TRDR_API_KEY: 'x_test_1' };
  return await home.run(inHome, { env, differs: true });
}

describe('a file that is not what a command reads exits 2 before anything is sent', () => {
  const wrong = {
    'an empty file': '',
    'blank lines': '\n \n',
    'an empty list': '[]',
    'a list of handles': 'mira\nsolwolf\n',
    'records of something else': lines({ wallet: 'w', rank: 1, period: 'weekly' }),
    'a table of something else': 'wallet,rank\nw,1\n',
  };
  const commands: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['pnl mira --compare old', { ...wrong, users: lines(user), 'only a header': header }],
    ['whois mira --compare old', { ...wrong, numbers: lines(mira) }],
    ['whois --compare old --changed', { ...wrong, 'only a header': 'subject,found,id\n' }],
    ['thesis refresh old', { ...wrong, users: lines(user), numbers: lines(mira) }],
  ];
  test.each(
    commands.flatMap(([words, files]) => Object.keys(files).map((what) => [words, what, files])),
  )('%s: %s', async (words, what, files) => {
    const result = await ran(String(words), { old: Object(files)[String(what)] });
    expect([result.exitCode, result.stdout], result.stderr).toEqual([2, '']);
    expect(result.error()['message']).toContain('old');
  });

  test('an empty part of a tail is not a wrong file', async () => {
    const files = { empty: '', posts: 'x\n' };
    const result = await ran('thesis refresh empty posts', files);
    expect(result.error()).toMatchObject({
      exit: 2,
      message: expect.stringMatching(/no theses in .*posts$/),
    });
  });
});

describe('a file that cannot be read, or in two ways, exits 2 and says where', () => {
  const row = (netUsd: string) => `mira,true,ok,mira,7d,${netUsd},1\n`;
  test.each<[words: string, text: string, message: string]>([
    ['pnl --from f.csv', 'subject,window,subject\na,7d,b\n', 'columns "subject": 1 and 3'],
    ['pnl a --compare f.csv', 'subject,window,rank,rank\na,7d,1,2\n', 'columns "rank": 3 and 4'],
    ['whois --compare f.csv', 'subject,id,found,id\na,1,true,2\n', 'columns "id": 2 and 4'],
    ['whois --file f.csv --column handle', 'x,handle,y,handle\n1,a,2,b\n', '"handle": 2 and 4'],
    ['whois --file f.csv --column HANDLE', 'Handle,handle\na,b\n', '"handle": 1 and 2'],
    ['pnl --file f.csv --column h', 'h\th\na\tb\n', '"h": 1 and 2'],
    ['pnl --from f.csv', `${header}${row('"1,5"')}`, 'line 2'],
    ['pnl --from f.csv', `${header}${row('"1,234"')}`, '"1,234" in the column netUsd'],
    ['pnl --from f.csv', `${header}${row('1 234')}`, 'line 2'],
    [
      'pnl a --compare f.csv',
      header.replaceAll(',', '\t') + row('1,5').replace(/,(?!5)/g, '\t'),
      '1,5',
    ],
    [
      'pnl --from f.csv',
      header.replaceAll(',', ';') + row('1.234,5').replace(/,(?!5)/g, ';'),
      '1.234,5',
    ],
    ['pnl --from f.csv', `${header}${row('1')}${row('2')}`, '"mira" again'],
    ['pnl --from f.csv', `${header}${row('1')}a,true,ok,a,7d,1,1\n${row('2')}`, '"mira" again'],
    [
      'pnl --from f.csv',
      `${header}${row('1')}a,true,ok,a,7d,1,1\n${row('2').replace('7d', 'all')}`,
      'together',
    ],
    ['pnl --from f.ndjson', lines(mira, trader('MIRA', { '7d': window(2) })), '"MIRA" again'],
    ['pnl --from f', 'mira\nsolwolf\n', 'needs the columns window and subject (or handle)'],
    ['pnl --from f', '{"id":"x"}\n', 'line 1 is not a record'],
    ['pnl --from f', '[{"subject":', 'not valid JSON'],
    ['pnl --from f', `${header}mira,true\n`, 'line 2 has 2 cells, but the header has 7'],
    ['whois mira --compare f', lines({ ...user, id: undefined }), 'line 1 has no user id'],
    ['whois mira --compare f', lines({ ...user, found: 'yes' }), 'line 1 is not a record of'],
    ['whois mira --compare f', '[{"subject":', 'item 1 is not a record'],
    [
      'whois mira --compare f',
      'subject,found,id\nmira,true\n',
      'has 2 cells, but the header has 3',
    ],
    ['whois mira --compare f', 'just text\n', 'needs the columns id and subject (or handle)'],
    [
      'whois mira --compare f',
      lines(user, { ...user, subject: 'Mira', handle: 'b' }),
      'again, with other values, at line 2',
    ],
    [
      'whois mira --compare f',
      'subject,found,id\nmira,false,\nmira,true,1\n',
      'again, with other values, at line 3',
    ],
    ...['thesis list --from', 'author --from', 'thesis tail --replay', 'thesis refresh'].map(
      (words): [string, string, string] => [
        `${words} f.json`,
        '[{"id":"a"},{"id"',
        'not valid JSON',
      ],
    ),
    ['author --from f.json', '[1, "a"]', 'no theses'],
    ['author --from f.json', 'id,authorId\n1,2\n', 'as ndjson or json'],
    ['pnl a --compare f.ndjson --window 24h', lines(mira), 'no numbers for the window 24h'],
    ['pnl --from g.ndjson --compare f.ndjson', lines(mira), 'no numbers for the window 7d'],
  ])('%s: %j', async (words, text, message) => {
    const name = words.split(' ').find((word) => /^f(\.|$)/.test(word)) ?? 'f';
    const other = { 'g.ndjson': lines(trader('mira', { '24h': window(1) })) };
    const result = await ran(words, { [name]: text, ...other });
    expect([result.exitCode, result.stdout], result.stderr).toEqual([2, '']);
    const { message: said, hint } = result.error();
    expect(`${said} ${hint}`).toContain(message);
  });

  test.each([
    ['the same row twice', `${header}${'mira,true,ok,mira,7d,1,1\n'.repeat(2)}`],
    ['unnamed columns', 'subject,window,netUsd,,\nmira,7d,1,,\n'],
    ['a decimal comma between semicolons', 'subject;window;netUsd\nmira;7d;1,0\n'],
  ])('but reads %s', async (_, text) => {
    const result = await ran('pnl --from f.csv -o csv --fields subject,window,netUsd', {
      'f.csv': text,
    });
    expect(result.stdout.replace('1.0', '1')).toBe('subject,window,netUsd\nmira,7d,1\n');
  });

  test('compares the windows that both exports have', async () => {
    const files = {
      'a.ndjson': lines(trader('mira', { '24h': window(1), '7d': window(5) })),
      'b.ndjson': lines(trader('mira', { '24h': window(2) })),
    };
    for (const [from, to] of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const words = `pnl --from ${from}.ndjson --compare ${to}.ndjson --changed`;
      expect((await ran(words, files)).records()).toMatchObject([{ change: 'changed' }]);
    }
  });
});

describe('a gzipped file is read as the file that it was', () => {
  const position = {
    ...{ authorId: '3f679da5-8c94-4e2e-a551-213b7510858f', authorHandle: 'mira', token: 't' },
    ...{ network: null, symbol: null, firstAt: 1, lastAt: 2, posts: 1, tradeUsd: null },
    ...{ holdingsUsd: null, status: 'open', closedAt: null, heldMs: null, pnlUsd: 1 },
    ...{ pnlPct: null, isDev: false, readAt: 3 },
  };
  const post = {
    ...{ id: 'p', authorId: position.authorId, tokenAddress: 't', platformCreatedAt: 1 },
    ...{ closedAt: null, unrealizedPnlUsd: 1 },
  };
  const files = {
    'numbers.csv': `${header}mira,true,ok,mira,7d,1,1\n`,
    'numbers.ndjson': lines(mira),
    'position.json': JSON.stringify([position]),
    'user.csv': `subject,id,found\nmira,${position.authorId},true\n`,
    'posts.ndjson': lines(post),
    'desk.txt': `# desk\n${position.authorId}\n`,
    'desk.csv': `who\n${position.authorId}\n`,
  };
  const commands = [
    'pnl --from numbers.csv',
    'pnl --from numbers.ndjson --compare numbers.csv',
    'author --from posts.ndjson --compare position.json',
    'author --from posts.ndjson --file desk.txt',
    'author --from posts.ndjson --file desk.csv --column who',
    'thesis list --from posts.ndjson --users desk.txt',
    'whois --compare user.csv --dry-run',
  ];
  /** The files with `.gz` behind their names, or packed without it. */
  const packed = (suffix: string, cut = 0) =>
    Object.fromEntries(
      Object.entries(files).map(([name, text]) => {
        const bytes = gzipSync(text);
        return [name + suffix, bytes.subarray(0, bytes.length - cut)];
      }),
    );

  // What is packed shows in its bytes, so one command reads it by its plain name.
  test.each([...commands.map((line) => [line, '.gz'] as const), [commands[0], ''] as const])(
    '%s (%s)',
    async (line = '', suffix) => {
      const plain = await ran(line, files);
      const words = line.replaceAll(/\S+\.\w+/g, (name) => name + suffix);
      const unpacked = await ran(words, packed(suffix));
      const said = plain.stderr.replaceAll(/[^ ]+\.\w+/g, '');
      expect([unpacked.exitCode, unpacked.stdout]).toEqual([plain.exitCode, plain.stdout]);
      expect([plain.exitCode, said]).toEqual([0, expect.not.stringContaining('error')]);
      const cut = await ran(words, packed(suffix, 9));
      expect([cut.exitCode, cut.error()['code']]).toEqual([9, 'DAMAGED_GZIP']);
    },
  );

  test('also from stdin, even if it is cut', async () => {
    const home = openHome();
    for (const words of [
      ['author', '--from', '-'],
      ['pnl', '--from', '-'],
      ['thesis', 'tail', '--replay', '-'],
    ]) {
      const text = words[0] === 'pnl' ? files['numbers.ndjson'] : files['posts.ndjson'];
      const bytes = gzipSync(text);
      const whole = await home.run(words, { stdin: bytes, differs: true });
      expect([whole.exitCode, whole.records().length], whole.stderr).toEqual([0, 1]);
      const cut = await home.run(words, { stdin: bytes.subarray(0, -9), differs: true });
      expect([cut.exitCode, cut.error()['code']]).toEqual([9, 'DAMAGED_GZIP']);
    }
  });
});
