import { expect, test } from 'vitest';
import { commandWith } from '../../src/cli/command-line.ts';

test.each([
  [['thesis', 'list', '--all'], { '--before': 't1' }, 'trdr thesis list --all --before t1'],
  [
    ['thesis', 'list', '--before', 'a', '--all'],
    { '--before': 'b' },
    'trdr thesis list --all --before b',
  ],
  [['thesis', 'list', '--before=a'], { '--before': undefined }, 'trdr thesis list'],
  [['thesis', 'tail', '--grep', "it's $5"], {}, "trdr thesis tail --grep 'it'\\''s $5'"],
  [
    ['api', '/v2/thesis', '-flimit=2', '-f', 'a=b', '-i'],
    { '-f': undefined },
    'trdr api /v2/thesis -i',
  ],
  [
    ['whois', '--as', 'handle', '--', '-x'],
    { '--max-cu': '5' },
    'trdr whois --as handle --max-cu 5 -- -x',
  ],
] as const)('the command %j is continued with the flags %j', (argv, changes, line) =>
  expect(commandWith(argv, changes)).toBe(line),
);
