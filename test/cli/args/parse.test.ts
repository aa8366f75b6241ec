import { describe, expect, it } from 'vitest';
import { duration } from '../../../src/base/time-values.ts';
import { integer } from '../../../src/base/values.ts';
import { commonOptions } from '../../../src/cli/args/common.ts';
import { flag, list, longName, type Option, value, valueOr } from '../../../src/cli/args/option.ts';
import { parseWords } from '../../../src/cli/args/parse.ts';
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
  calls: [],
  exits: [0],
  parse: (args, given) => ({ args, given }),
  run: async () => 0,
});

/** A flag of a command line, with a value if it takes one. */
const words = (option: Option<unknown>) => [
  `--${longName(option)}`,
  ...(option.value ? [option.value.choices?.[0] ?? '1'] : []),
];

const contradictions = (await allCommands()).flatMap((each) => {
  const options = Object.values({ ...commonOptions(each.common), ...each.options });
  return options.flatMap((option) =>
    (option.excludes ?? []).flatMap((name) => {
      const other = options.find((candidate) => `--${longName(candidate)}` === name);
      return other ? [{ each, line: [words(option), words(other)], names: [words(option)[0], name] }] : [];
    }),
  );
});

describe('flags that contradict each other', () => {
  it.each([
    ['whois', '--no-cache', '--max-age'],
    ['pnl', '--no-cache', '--max-age'],
    ['pnl', '--from', '--resume'],
    ['thesis list', '--all', '--limit'],
    ['thesis tail', '--backfill', '--since'],
    ['thesis tail', '--group', '--checkpoint'],
    ['launchpad callouts', '--wallet', '--coin'],
    ['usage', '--reconcile', '--by'],
    ['api', '--paginate', '--input'],
    ['sandbox', '--replay', '--data'],
    ['me', '--sandbox', '--base-url'],
  ])('are declared: trdr %s %s %s', (path, ...names) => {
    expect(
      contradictions.filter(({ each }) => each.path === path).map((found) => found.names),
    ).toContainEqual(names);
  });

  it.each(contradictions.map((one) => [`${one.each.path} ${one.names.join(' ')}`, one] as const))(
    'are rejected in any order, also with =: %s',
    (_, { each, line, names }) => {
      const message = `${names.join(' and ')} cannot be combined`;
      const joined = line.map((flag) => flag.join('='));
      for (const given of [line.flat(), line.toReversed().flat(), joined]) {
        expect(() => parseWords(each, given)).toThrow(message);
      }
      expect(() => parseWords(each, ['--', ...line.flat()])).not.toThrow(message);
    },
  );
});

describe('a command line', () => {
  it('returns the value of each flag, or its default', () => {
    const { args, given, globals } = parseWords(spec, ['a', '--limit', '5', 'b', '--max-cu', '2k']);
    expect(args).toEqual(['a', 'b']);
    expect(given).toEqual({ wait: 60_000, noWait: false, limit: 5, token: [] });
    expect(globals).toMatchObject({ maxCu: 2_000, yes: false, sandbox: false, dryRun: false });
  });

  it('distinguishes a flag from its "no" form', () => {
    expect(parseWords(spec, ['a', '--no-wait']).given).toMatchObject({ wait: 60_000, noWait: true });
    expect(parseWords(spec, ['a', '--wait', '2s']).given).toMatchObject({ wait: 2_000, noWait: false });
  });

  it('uses the later one of a flag and its "no" form', () => {
    expect(parseWords(spec, ['a', '--no-wait', '--wait', '2s']).given).toMatchObject({
      wait: 2_000,
      noWait: false,
    });
    expect(parseWords(spec, ['a', '--wait', '2s', '--no-wait']).given).toMatchObject({
      wait: 60_000,
      noWait: true,
    });
  });

  it('accepts a value that looks like a flag of another command', () => {
    expect(parseWords(spec, ['a', '--token', '--unknown']).given).toMatchObject({ token: ['--unknown'] });
    expect(parseWords(spec, ['a', '--token=--dry-run']).given).toMatchObject({ token: ['--dry-run'] });
    expect(parseWords(spec, ['--', '--token', '--yes']).args).toEqual(['--token', '--yes']);
    expect(parseWords(spec, ['a', '--token', '-']).given).toMatchObject({ token: ['-'] });
  });

  it('accepts --author for --user, where there is such a flag', async () => {
    const commands = await allCommands();
    const list = commands.find(({ path }) => path === 'thesis list') ?? spec;
    for (const given of [['--author', 'mira'], ['--author=mira']]) {
      expect(parseWords(list, given).given).toMatchObject({ user: 'mira' });
      expect(() => parseWords(spec, given)).toThrow('unknown flag --author');
    }
  });

  it('accepts repeated flags, = and short forms, and arguments after --', () => {
    const { args, given } = parseWords(spec, ['--token=x', '--token', 'y', '-l7', '--', '-odd']);
    expect(given).toMatchObject({ token: ['x', 'y'], limit: 7 });
    expect(args).toEqual(['-odd']);
  });

  it.each([
    ['an unknown flag', ['a', '--limt', '5'], /unknown flag --limt/, /--limit/],
    [
      'a value of the wrong kind',
      ['a', '--limit', 'many'],
      /invalid number "many" for --limit/,
      /whole number/,
    ],
    ['a switch with a value', ['a', '--no-wait=5'], /--no-wait takes no value/, /--help/],
    ['a flag without its value', ['a', '--limit'], /^--limit requires a value/, /after the flag/],
    ['a short flag without its value', ['a', '-l'], /^-l requires a value/, /after the flag/],
    [
      'a flag in the place of a value',
      ['a', '--token', '--dry-run'],
      /^--token requires a value/,
      /--token=--dry-run/,
    ],
    [
      'a flag instead of a value',
      ['a', '-l', '--token=x'],
      /^-l requires a value/,
      /"--token" is a flag.* write --limit=--token=x$/,
    ],
    [
      'a short flag in the place of a value',
      ['a', '--token', '-y'],
      /^--token requires a value/,
      /"-y" is a flag/,
    ],
    ['no argument where one is needed', [], /requires the argument SUBJECT/, /trdr try --help/],
  ])('with %s is rejected with a hint', (_, words, message, hint) => {
    expect(() => parseWords(spec, words)).toThrow(
      expect.objectContaining({
        kind: 'usage',
        message: expect.stringMatching(message),
        ...(hint && { hint: expect.stringMatching(hint) }),
      }),
    );
  });
});
