import { describe, expect, it, test } from 'vitest';
import { integer } from '../../../src/base/amounts.ts';
import { duration } from '../../../src/base/durations.ts';
import { commonOptions } from '../../../src/cli/args/common.ts';
import { flag, list, longName, type Option, value, valueOr } from '../../../src/cli/args/option.ts';
import { findCommand, parseWords } from '../../../src/cli/args/parse.ts';
import { text } from '../../../src/cli/args/values.ts';
import { command } from '../../../src/cli/command.ts';
import { allCommands } from '../../../src/cli/docs/help.ts';

const spec = command({
  path: 'try',
  summary: 'Try',
  about: [],
  args: [{ name: 'subject', help: 'a subject', variadic: true }],
  options: {
    wait: valueOr('--wait', 'how long', duration, 60_000),
    noWait: flag('--no-wait', 'not at all'),
    limit: value('-l, --limit', 'how many', integer({ min: 1 })),
    token: list('--token', 'which', text('address')),
  },
  common: ['output', 'service', 'money'],
  examples: {},
  exits: [0],
  run: async () => 0,
});
const defaults = { wait: 60_000, noWait: false, limit: undefined, token: [] };

/** A flag of a command line, with a value if it takes one. */
const words = (option: Option<unknown>) => [
  `--${longName(option)}`,
  ...(option.value ? [option.value.choices?.[0] ?? '1'] : []),
];

test('flags that contradict each other are rejected in any order, also with =', async () => {
  const names: string[] = [];
  for (const each of await allCommands()) {
    const options = Object.values({ ...commonOptions(each.common), ...each.options });
    for (const option of options) {
      const others = options.filter((other) => option.excludes?.includes(`--${longName(other)}`));
      for (const other of others) {
        const line = [words(option), words(other)];
        const message = `--${longName(option)} and --${longName(other)} cannot be combined`;
        for (const given of [
          line.flat(),
          line.toReversed().flat(),
          line.map((pair) => pair.join('=')),
        ])
          expect(() => parseWords(each, given), each.path).toThrow(message);
        expect(() => parseWords(each, ['--', ...line.flat()])).not.toThrow(message);
        names.push(`${each.path} ${longName(option)} ${longName(other)}`);
      }
    }
  }
  expect(names).toEqual(
    expect.arrayContaining([
      ...[
        'whois no-cache max-age',
        'pnl no-cache max-age',
        'pnl from resume',
        'thesis list top limit',
      ],
      ...[
        'thesis tail backfill since',
        'thesis tail group checkpoint',
        'launchpad callouts wallet coin',
      ],
      ...['usage reconcile by', 'api paginate input', 'sandbox replay data', 'me sandbox base-url'],
    ]),
  );
});

describe('a command line', () => {
  it.each([
    ['a --limit 5 b', ['a', 'b'], { limit: 5 }],
    ['a --no-wait', ['a'], { noWait: true }],
    ['a --wait 2s', ['a'], { wait: 2_000 }],
    ['a --no-wait --wait 2s', ['a'], { wait: 2_000 }],
    ['a --wait 2s --no-wait', ['a'], { noWait: true }],
    ['--token=x --token y -l7 -- -odd', ['-odd'], { token: ['x', 'y'], limit: 7 }],
    ['a --token --unknown', ['a'], { token: ['--unknown'] }],
    ['a --token=--dry-run', ['a'], { token: ['--dry-run'] }],
    ['a --token -', ['a'], { token: ['-'] }],
    ['-- --token --yes', ['--token', '--yes'], {}],
  ])('is read: %s', (line, args, given) => {
    const parsed = parseWords(spec, line.split(' '));
    expect([parsed.args, parsed.given]).toEqual([args, { ...defaults, ...given }]);
  });

  it('has the values of common flags, or their defaults', () => {
    expect(parseWords(spec, ['a', '--max-cu', '2k']).globals).toMatchObject({
      ...{ maxCu: 2_000, yes: false, sandbox: false, dryRun: false },
    });
  });

  it('accepts --author for --user, where there is such a flag', async () => {
    const thesisList = (await allCommands()).find(({ path }) => path === 'thesis list') ?? spec;
    for (const given of [['--author', 'mira'], ['--author=mira']]) {
      expect(parseWords(thesisList, given).given).toMatchObject({ user: 'mira' });
      expect(() => parseWords(spec, given)).toThrow('unknown flag --author');
    }
  });

  it.each([
    ['a --limt 5', /unknown flag --limt/, /--limit/],
    ['a --limit many', /invalid number "many" for --limit/, /whole number/],
    ['a --no-wait=5', /--no-wait takes no value/, /--help/],
    ['a --limit', /^--limit requires a value/, /after the flag/],
    ['a -l', /^-l requires a value/, /after the flag/],
    ['a --token --dry-run', /^--token requires a value/, /--token=--dry-run/],
    ['a -l --token=x', /^-l requires a value/, /"--token" is a flag.* write --limit=--token=x$/],
    ['a --token -y', /^--token requires a value/, /"-y" is a flag/],
    ['', /requires the argument SUBJECT/, /trdr try --help/],
  ])('is rejected with a hint: %s', (line, message, hint) => {
    expect(() => parseWords(spec, line.split(' ').filter(Boolean))).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  });
});

describe('the command of a line', () => {
  const paths = ['whois', 'thesis list', 'thesis tail', 'cache stats', 'me'];

  it.each([
    ['whois mira', 'whois', ['mira']],
    ['thesis tail --count 5', 'thesis tail', ['--count', '5']],
    ['-o json whois mira', 'whois', ['-o', 'json', 'mira']],
    ['thesis -o json list', 'thesis list', ['-o', 'json']],
    ['--output=json whois -- --help', 'whois', ['--output=json', '--', '--help']],
    ['whois thesis', 'whois', ['thesis']],
    ['thesis --help', 'thesis', ['--help']],
  ])('is found: %s', (line, path, rest) => {
    const wantsHelp = line === 'thesis --help';
    expect(findCommand(line.split(' '), paths)).toEqual({ path, rest, wantsHelp });
  });

  it.each([
    ['whos mira', 'trdr whois'],
    ['thesis tial', 'trdr thesis tail'],
    ['thesys', 'trdr thesis'],
  ])('%s is rejected with a suggestion', (line, meant) => {
    expect(() => findCommand(line.split(' '), paths)).toThrow(
      expect.objectContaining({ kind: 'usage', hint: expect.stringContaining(meant) }),
    );
  });
});
