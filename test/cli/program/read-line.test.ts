import { Argument, Option } from 'commander';
import { describe, expect, it, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { Flag } from '../../../src/cli/args/option.ts';
import type { Parsed } from '../../../src/cli/args/parsed.ts';
import { allLeaves } from '../../../src/cli/docs/help.ts';
import { Program } from '../../../src/cli/program/program.ts';
import { readLine } from '../../../src/cli/program/read-line.ts';
import { runInProcess } from '../../e2e/in-process.ts';

const leaves = await allLeaves();

/** What a line says that names a command, split at each space. */
async function read(line: string): Promise<Parsed & { readonly path: string }> {
  const read = await readLine(line.split(' ').filter((word) => word !== ''));
  if ('helpFor' in read) throw new Error(`"${line}" asks for help`);
  return { ...read.parsed, path: read.command.path };
}

const texts = ['1', '1h', 'mira', 'a=b', '3/10m', '10x', '100MB'];

/** A value that a flag accepts. */
function valueFor(option: Option): string {
  const isAccepted = (text: string) => {
    try {
      return option.parseArg?.(text, undefined) !== undefined;
    } catch {
      return false;
    }
  };
  return [...(option.argChoices ?? []), ...texts].find(isAccepted) ?? `no value for ${option.long}`;
}

/** A flag of a command line, with a value that it accepts if it takes one. */
const wordsOf = (option: Option): string[] =>
  option.required ? [`${option.long}`, valueFor(option)] : [`${option.long}`];

const usage = (message: unknown, hint: unknown = expect.anything()) =>
  expect.objectContaining({ kind: 'usage', message, hint });

describe('a command line', () => {
  it.each([
    ['whois mira --no-cache', ['mira'], { noCache: true, maxAge: undefined }],
    ['whois -- -odd --help', ['-odd', '--help'], { noCache: false }],
    ['whois -5', ['-5'], {}],
    ['resolve a --no-wait', ['a'], { noWait: true, wait: 60_000 }],
    ['resolve a --wait 2s', ['a'], { noWait: false, wait: 2_000 }],
    ['resolve a --no-wait --wait 2s', ['a'], { noWait: false, wait: 2_000 }],
    ['resolve a --wait 2s --no-wait', ['a'], { noWait: true, wait: 60_000 }],
    ['thesis tail --token=x --token y', [], { token: ['x', 'y'], via: 'auto' }],
    ['thesis tail --token --unknown', [], { token: ['--unknown'] }],
    ['thesis tail --token=--dry-run', [], { token: ['--dry-run'] }],
    ['thesis tail --token -', [], { token: ['-'] }],
    ['pnl a --window 7d,30d --window all', ['a'], { window: ['7d', '30d', 'all'] }],
    ['api /v2/x -flimit=5', ['/v2/x'], { field: [{ name: 'limit', value: '5' }] }],
  ])('is read: %s', async (line, args, given) => {
    const parsed = await read(line);
    expect(parsed.args).toEqual(args);
    expect(parsed.flags).toMatchObject(given);
  });

  it.each([
    ['whois a --max-cu 2k', { maxCu: 2_000, yes: false, sandbox: false, dryRun: false }],
    ['-o json whois a', { output: 'json' }],
    ['thesis -o json list', { output: 'json' }],
    ['--output=csv --sandbox thesis -q list', { output: 'csv', sandbox: true, quiet: true }],
    ['whois -qo json a', { output: 'json', quiet: true }],
    ['store status -o metrics', { output: undefined }],
    ['-o metrics store status', { output: undefined }],
    ['store status -o csv', { output: 'csv' }],
    ['whois a --out -', { out: undefined }],
  ])('has common flags, also before the command: %s', async (line, globals) => {
    expect((await read(line)).globals).toMatchObject(globals);
  });

  it.each([
    ['whois thesis', 'whois', ['thesis']],
    ['-- whois mira', 'whois', ['mira']],
    ['-q -- thesis list', 'thesis list', []],
    ['whois -- mira -q', 'whois', ['mira', '-q']],
    ['thesis tail --count 5', 'thesis tail', []],
    ['--version', 'version', []],
    ['-v -q', 'version', []],
  ])('names its command: %s', async (line, path, args) => {
    expect(await read(line)).toMatchObject({ path, args });
  });

  it.each([
    ['', [], true],
    ['--help', [], false],
    ['-h', [], true],
    ['thesis --help', ['thesis'], false],
    ['thesis -o json list -h', ['thesis', 'list'], true],
    ['whois mira --wrong -h --help', ['whois'], false],
  ])('asks for help: "%s"', async (line, helpFor, isBrief) => {
    const asked = await readLine(line.split(' ').filter((word) => word !== ''));
    expect(asked).toMatchObject({ helpFor, isBrief });
  });

  it('names the files that it reads and writes, below the folder of the run', async () => {
    const line = await readLine(
      'thesis tail --out a.ndjson --checkpoint /b --receipt - --replay c d'.split(' '),
      '/there',
    );
    expect('command' in line && line.parsed.files).toMatchObject([
      { role: 'file', path: '/there/d' },
      { role: '--checkpoint', path: '/b', writes: {} },
      { role: '--replay', path: '/there/c', writes: undefined },
      { role: '--out', path: '/there/a.ndjson', writes: { lock: '.lock' } },
    ]);
  });
});

/** Each code that commander documents for a line, with lines that cause it. */
const rejected: readonly (readonly [code: string, line: string, message: string, hint: RegExp])[] =
  [
    ['unknownOption', 'whois a --limt 5', "unknown flag '--limt'", /see trdr whois --help/],
    ['unknownOption', 'thesis list --limt 5', "unknown flag '--limt'", /Did you mean --limit\?/],
    ['unknownOption', 'whois a --key=SECRET', "unknown flag '--key'", /--help/],
    ['unknownOption', 'whois a -kSECRET', "unknown flag '-k'", /--help/],
    ['unknownOption', '--key=SECRET whois a', "unknown flag '--key'", /see trdr --help/],
    ['unknownOption', 'whois a --author x', "unknown flag '--author'", /--help/],
    ['unknownCommand', 'whos mira', "unknown command 'whos'", /Did you mean whois\?/],
    ['unknownCommand', 'thesis tial', "unknown command 'tial'", /Did you mean tail\?/],
    ['unknownCommand', 'thesys', "unknown command 'thesys'", /Did you mean thesis\?/],
    ['unknownCommand', '__proto__', "unknown command '__proto__'", /see trdr --help/],
    ['unknownCommand', 'thesis toString', "unknown command 'toString'", /see trdr thesis --help/],
    [
      'optionMissingArgument',
      'thesis list --limit',
      "'--top, --limit <n>' argument missing",
      /add/,
    ],
    ['optionMissingArgument', 'whois a -o', "flag '-o, --output <value>' argument missing", /add/],
    ['optionMissingArgument', '-o', "flag '-o, --output <value>' argument missing", /add/],
    ['missingArgument', 'completion', "missing required argument 'shell'", /completion --help/],
    [
      'excessArguments',
      'me x',
      "too many arguments for 'me', expected 0 arguments but got 1",
      /see trdr me --help/,
    ],
    ['excessArguments', 'auth login KEY', 'too many arguments', /never accepted as an argument/],
    ['conflictingOption', 'whois a --no-cache --max-age 5m', "flag '--no-cache' cannot be", /one/],
    ['help', '-o json', 'missing command', /see trdr --help/],
    ['help', 'cache', '"trdr cache" requires a subcommand: stats, clear', /trdr cache --help/],
  ];

test.each(rejected)('%s of commander: trdr %s', async (_, line, message, hint) => {
  await expect(read(line)).rejects.toEqual(
    usage(expect.stringContaining(message), expect.stringMatching(hint)),
  );
});

test('codes of commander that no line of trdr causes today are also worded for flags', () => {
  const program = () => new Program('trdr', () => {}).exitOverride();
  const said = (words: string[], made: Program) => {
    try {
      made.parse(words, { from: 'user' });
    } catch (error) {
      return error instanceof Error ? error.message : error;
    }
    return undefined;
  };
  const choices = new Option('--by <way>').choices(['air', 'sea']);
  const needed = new Option('--to <place>').makeOptionMandatory();
  const argument = new Argument('<place>').choices(['here']);
  expect([
    said(['--by', 'land'], program().addOption(choices)),
    said([], program().addOption(needed)),
    said(['there'], program().addArgument(argument)),
  ]).toEqual([
    "flag '--by <way>' argument 'land' is invalid. Allowed choices are air, sea.",
    "required flag '--to <place>' not specified",
    "command-argument value 'there' is invalid for argument 'place'. Allowed choices are here.",
  ]);
});

describe('a line that commander would read in another sense is rejected', () => {
  it.each([
    ['whois a --no-cache=5', "flag '--no-cache' takes no value", /without a value/],
    ['thesis tail --token --dry-run', "'--token <token>' argument missing", /--token=--dry-run$/],
    ['thesis tail --token --help', "'--token <token>' argument missing", /"--help" is a flag/],
    ['whois a -o --file=x', 'argument missing', /"--file" is a flag.* write --output=--file=x$/],
    ['whois a -qo -y', 'argument missing', /"-y" is a flag/],
    ['thesis list --limit many', 'invalid number "many" for --limit', /whole number/],
    ['thesis tail --via pol', 'invalid value "pol" for --via', /Did you mean poll\?/],
  ])('%s', async (line, message, hint) => {
    await expect(read(line)).rejects.toEqual(
      usage(expect.stringContaining(message), expect.stringMatching(hint)),
    );
  });
});

/** The flags of all commands, each once: most commands have the common ones. */
const flagsOnce = new Map(
  leaves.flatMap(({ spec, options }) =>
    options.map((option) => [option.flags, { path: spec.path, option }] as const),
  ),
);

test('a flag that takes one value is given once', async () => {
  const lines = [...flagsOnce.values()]
    .filter(({ option }) => option.required && !Array.isArray(option.defaultValue))
    .flatMap(({ path, option }) => {
      const [long, value] = wordsOf(option);
      const { short = long, flags } = option;
      return [`${long} ${value} ${long}=${value}`, `${short} ${value} ${long} ${value}`].map(
        (twice) => ({ line: `${path} ${twice}`, flags }),
      );
    });
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.map(({ line }) => line.split(' ').at(-1))).toContain('--max-cu=1');
  for (const { line, flags } of lines)
    await expect(read(line), line).rejects.toEqual(usage(`flag '${flags}' is given twice`));
});

test('flags that contradict each other are rejected in any order, also with =', async () => {
  const pairs = leaves.flatMap(({ spec, options }) =>
    Object.values(spec.options).flatMap((one) =>
      options
        .filter(({ long = '' }) => one.excludes.includes(long))
        .map((other) => ({ path: spec.path, one, other })),
    ),
  );
  const names = pairs.map(({ path, one, other }) => `${path} ${one.name()} ${other.name()}`);
  expect(names).toEqual(
    expect.arrayContaining([
      'whois no-cache max-age',
      'pnl no-cache max-age',
      'pnl from resume',
      'thesis tail backfill since',
      'launchpad callouts wallet coin',
      'usage reconcile by',
      'api paginate input',
      'sandbox replay data',
    ]),
  );
  for (const { path, one, other } of pairs) {
    const line = [wordsOf(one), wordsOf(other)];
    const message = `flag '${one.flags}' cannot be used with flag '${other.flags}'`;
    const spelled = [line.flat(), line.toReversed().flat(), line.map((pair) => pair.join('='))];
    for (const words of spelled)
      await expect(read(`${path} ${words.join(' ')}`)).rejects.toEqual(usage(message));
  }
  await expect(read('me --sandbox --base-url x')).rejects.toEqual(
    usage("flag '--sandbox' cannot be used with flag '--base-url <url>'"),
  );
});

test.each([
  ['board', '"trdr launchpad board"'],
  ['tail', '"trdr thesis tail" or "trdr launchpad tail"'],
  ['callouts', '"trdr launchpad callouts"'],
  ['login', '"trdr auth login" or "trdr store login"'],
  ['user', '"trdr launchpad user"'],
  ['whois mira --csv', '-o csv'],
  ['thesis list -n 5', '--limit'],
  ['thesis tail --interval 5s', '--lag'],
  ['thesis list --file desk.txt', '--users'],
  ['whoami', 'me'],
  ['thesis list --author mira', '--user'],
])('what is meant by "trdr %s" is named: %s', async (line, meant) => {
  await expect(read(line)).rejects.toEqual(
    usage(expect.any(String), expect.stringContaining(`Did you mean ${meant}`)),
  );
});

describe('a flag with two names', () => {
  const aliased = leaves.flatMap((leaf) =>
    leaf.options
      .filter(({ short, long }) => short?.startsWith('--') && long)
      .map(({ short, long }) => [leaf.words.join(' '), String(short), String(long)] as const),
  );

  it.each(aliased)('of %s is named as it is typed: %s or %s', async (path, other, name) => {
    for (const [typed, untyped] of [
      [other, name],
      [name, other],
    ]) {
      const failures = [`${typed} -- x`, `${typed}=-0x`, `${typed} 1 ${typed} 2`, `${typed}`];
      for (const words of failures) {
        const failure = await read(`${path} ${words}`).catch((error: unknown) => error);
        if (!(failure instanceof Failure)) continue;
        // Commander lists both names of a flag, as help does.
        const said = `${failure.message} ${failure.hint}`.replaceAll(`${other}, ${name}`, '');
        expect(said).not.toContain(untyped);
      }
    }
  });

  it('is named as it is typed by the command too', async () => {
    const { stderr } = await runInProcess(['pnl', 'mira', '--top', '3', '--sandbox']);
    expect(stderr).toContain('--top requires --sort');
    const list = await runInProcess(['thesis', 'list', '--top', '3', '--all', '--sandbox']);
    expect(list.stderr).toContain('--all and --top cannot be combined');
    const board = await runInProcess(['launchpad', 'board', '--top', '0', '--sandbox']);
    expect(board.stderr).toContain('for --top');
  });
});

/** The flags that can be repeated, each once. */
const lists = new Map(
  leaves.flatMap(({ options }) =>
    options.flatMap((option) =>
      option instanceof Flag && option.isRepeatable ? [[option.long, option] as const] : [],
    ),
  ),
);

test.each([...lists.values()].map((flag) => [`${flag.long}`, flag] as const))(
  '%s takes a list with commas like repeated flags, unless its values may contain commas',
  (_, flag) => {
    const [one, two = one] = flag.argChoices ?? [valueFor(flag), valueFor(flag)];
    const parsed = (...texts: readonly string[]) =>
      texts.reduce<unknown>((before, text) => flag.parseArg?.(text, before as never), undefined);
    const repeated = parsed(`${one}`, `${two}`);
    expect(repeated).toHaveLength(2);
    if (flag.kind?.hasCommas) {
      expect(parsed(`${one},${two}`)).toHaveLength(1);
      return;
    }
    expect(parsed(`${one},${two}`)).toEqual(repeated);
    expect(parsed(`${one}, ${two}`)).toEqual(repeated);
    expect(() => parsed(`${one},,${two}`)).toThrow(usage(expect.stringContaining('empty value')));
  },
);

test('has lists of values, and some whose values may contain commas', () => {
  const names = ({ hasCommas = false }) =>
    [...lists].filter(([, { kind }]) => Boolean(kind?.hasCommas) === hasCommas).map(([n]) => n);
  expect(names({}).toSorted()).toEqual(
    expect.arrayContaining(['--coin', '--network', '--symbol', '--token', '--user', '--window']),
  );
  expect(names({ hasCommas: true }).toSorted()).toEqual(['--field', '--from', '--replay']);
});

test.each([
  ['me -o jsonl', { output: 'ndjson' }, {}],
  ['pnl mira --window 1d,1w', {}, { window: ['24h', '7d'] }],
])('"trdr %s" is read by its sense', async (line, globals, flags) => {
  expect(await read(line)).toMatchObject({ globals, flags });
});
