import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commonOptions } from '../../src/cli/args/common.ts';
import { allCommands } from '../../src/cli/docs/help.ts';
import { isSoak, some } from '../repeats.ts';
import { bash } from './bash.ts';
import { type Home, openHome, withSandbox } from './harness.ts';
import { withService } from './service.ts';

/** Paths that no command can use, and what the message says about each. */
const paths = [
  ['a.ndjson', 'a loop of links', /form a loop/],
  ['none/a.ndjson', 'in a missing folder', /mkdir -p|not found|does not exist/],
  ['file/a.ndjson', 'in a file', /not a folder|does not exist|not found/],
  [`${'x'.repeat(250)}.ndjson`, 'with a name that is too long', /name is too long/],
  ['link.ndjson', 'a link into a missing folder', /does not exist|not found/],
  ['folder/', 'a folder', /folder|not a regular file/],
] as const;

function homeWithPaths(): Home {
  const home = openHome();
  const at = (name: string) => home.at(name);
  symlinkSync(at('b.ndjson'), at('a.ndjson'));
  symlinkSync(at('a.ndjson'), at('b.ndjson'));
  symlinkSync(at('missing/a.ndjson'), at('link.ndjson'));
  writeFileSync(at('file'), '');
  mkdirSync(at('folder'));
  return home;
}

describe.each(some(paths, 3))('%s (%s)', (name, _, says) => {
  const tail = ['thesis', 'tail', '--via', 'poll', '--count', '1'];

  test.each([
    ['whois', 'mira', '-o', 'ndjson', '--out'],
    ['thesis', 'list', '-o', 'ndjson', '--out'],
    ['pnl', 'mira', 'juno', '--yes', '-o', 'ndjson', '--out'],
    ['pnl', 'mira', 'juno', '--yes', '-o', 'ndjson', '--resume', '--out'],
    ['pnl', '--from'],
    ['whois', '--file'],
    ['pnl', '--yes', '--file'],
    [...tail, '-o', 'ndjson', '--out'],
    [...tail, '--status'],
    ['thesis', 'list', '--receipt'],
    [...tail, '--exec', 'cat', '--checkpoint'],
  ])('is reported before anything is paid for: %s %s %s %s %s %s %s', async (...words) => {
    const home = homeWithPaths();
    const path = home.at(name);
    const service = await withService(() => ({ status: 500, body: {} }));
    const ran = await home.run([...words, path], { sandbox: service, stdin: '' });
    expect([2, 9], ran.stderr).toContain(ran.exitCode);
    expect(ran.stderr).toMatch(says);
    expect(ran.stderr).not.toMatch(/BUG|syscall|stat '/);
    expect(service.calls).toEqual([]);
  });
});

/** What reads a file that the command line names. */
const readers = [
  'author --file',
  'author --from',
  'author mira --compare',
  'token X --from',
  'thesis list --from',
  'thesis list --users',
  'thesis tail --users',
  'thesis tail --replay',
  'thesis refresh',
  'launchpad tail --replay',
  'launchpad callouts --users',
  'launchpad callers --file',
  'launchpad board --wallets',
  'launchpad user --file',
  'whois --file',
  'whois mira --compare',
  'resolve --file',
  'pnl --file',
  'pnl --from',
  'pnl mira --compare',
  'api POST /v2/user/handles/pnl --input',
  'verify',
];

test.each(readers)('%s FILE is a usage error for a folder and no file', async (line) => {
  const home = homeWithPaths();
  const service = await withService(() => ({ status: 500, body: {} }));
  for (const [name, text] of [
    ['link.ndjson', 'file not found: '],
    ['folder', 'is a folder'],
  ] as const) {
    const ran = await home.run([...line.split(' '), home.at(name)], { sandbox: service });
    expect([ran.exitCode, ran.error()], ran.stderr).toMatchObject([
      2,
      { code: 'USAGE', message: expect.stringContaining(text) },
    ]);
  }
  expect(service.calls).toEqual([]);
});

/** Other spellings of the file `name` in the current folder. */
const spellings: Readonly<Record<string, (home: Home, name: string) => string>> = {
  'the same name': (_, name) => name,
  'a longer path': (_, name) => `./gone/../${name}`,
  'an absolute path': (home, name) => home.at(name),
  'a symbolic link': (home, name) => {
    symlinkSync(home.at(name), home.at('symlink'));
    return 'symlink';
  },
  'a linked folder': (home, name) => {
    symlinkSync(home.path, home.at('folder'));
    return `folder/${name}`;
  },
  'a hard link': (home, name) => {
    linkSync(home.at(name), home.at('hardlink'));
    return 'hardlink';
  },
};

/** Every pair of file flags of a command that cannot name the same file, with what trdr appends to the first name. */
const clashes = (await allCommands()).flatMap((command) => {
  const options = [
    ...Object.values(command.options),
    ...Object.values(commonOptions(command.common)),
  ].filter(({ kind }) => kind?.complete === 'file');
  const words = [
    ...command.path.split(' '),
    ...command.args.flatMap(({ optional, choices }) => (optional ? [] : (choices?.[0] ?? 'mira'))),
  ];
  return options.flatMap((one) =>
    ['', ...Object.values(one.kind?.writes ?? {})].flatMap((ending) =>
      options
        .filter((other) => other !== one && (one.kind?.writes ?? other.kind?.writes) !== undefined)
        .map((other) => ({
          words,
          one: `--${one.name()}`,
          ending,
          other: `--${other.name()}`,
        })),
    ),
  );
});

/** The first pair of each flag. */
const firsts = clashes.filter(
  ({ words, one, ending }, at) =>
    clashes.findIndex(
      (each) => each.words === words && each.one === one && each.ending === ending,
    ) === at,
);

const named = isSoak ? clashes : firsts;

describe.each(Object.entries(spellings))('a file with two roles, as %s', (how, spell) => {
  test('is rejected for each pair of flags, before anything is changed or sent', async () => {
    const service = await withService(() => ({ status: 500, body: {} }));
    expect(firsts.length).toBeGreaterThan(20);
    // How a file is recognized does not depend on the flags.
    const pairs = how === 'the same name' ? named : some(firsts, 10);
    for (const { words, one, ending, other } of pairs) {
      const home = openHome();
      const text = 'mira\njuno\n';
      home.write(`a.ndjson${ending}`, text);
      const name = spell(home, `a.ndjson${ending}`);
      const before = readdirSync(home.path);
      const argv = [...words, one, 'a.ndjson', other, name];
      const ran = await home.run(argv, { sandbox: service, stdin: '' });
      const reason = argv.includes('--replay')
        ? /same file|cannot be used with --replay/
        : /same file/;
      expect([ran.exitCode, ran.stderr], argv.join(' ')).toEqual([
        2,
        expect.stringMatching(reason),
      ]);
      expect([readdirSync(home.path), readFileSync(resolve(home.path, name), 'utf8')]).toEqual([
        before,
        text,
      ]);
    }
    expect(service.calls).toEqual([]);
  });
});

test('stdin and stdout have roles too, and two inputs or two devices may be the same', async () => {
  const [home, sandbox] = [openHome(), await withSandbox()];
  const run = async (line: string) => {
    home.write('a.csv', 'handle\nmira\n');
    const { codes, stderr } = await bash(`trdr ${line}`, { home, sandbox });
    return `${codes}${/[^"]*are the same file/.exec(stderr)?.[0] ?? ''}`;
  };
  expect(await run('whois - --out a.csv < a.csv')).toBe('2--out and stdin are the same file');
  expect(await run('whois --file a.csv >> a.csv')).toBe('2--file and stdout are the same file');
  expect(home.read('a.csv')).toBe('handle\nmira\n');
  expect(await run('whois mira --out b.csv < a.csv')).toBe('0');
  expect(await run('pnl mira --out b.csv --fresh > /dev/null')).toBe('0');
  expect(await run('pnl --from b.csv --file b.csv --column subject > /dev/null')).toBe('0');
});
