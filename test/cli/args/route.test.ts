import { describe, expect, it } from 'vitest';
import { findCommand } from '../../../src/cli/args/route.ts';

const paths = ['whois', 'thesis list', 'thesis tail', 'cache stats', 'me'];

describe('the command of a line', () => {
  it.each([
    ['whois mira', 'whois', ['mira']],
    ['thesis tail --count 5', 'thesis tail', ['--count', '5']],
    ['--sandbox whois mira', 'whois', ['--sandbox', 'mira']],
    ['-o json whois mira', 'whois', ['-o', 'json', 'mira']],
    ['thesis -o json list', 'thesis list', ['-o', 'json']],
    ['--output=json whois -- -odd', 'whois', ['--output=json', '--', '-odd']],
    ['whois thesis', 'whois', ['thesis']],
    ['thesis --help', 'thesis', ['--help']],
  ])('%s', (line, path, rest) => expect(findCommand(line.split(' '), paths)).toMatchObject({ path, rest }));

  it('recognizes --help anywhere except after --', () => {
    expect(findCommand(['whois', 'mira', '--help'], paths).wantsHelp).toBe(true);
    expect(findCommand(['whois', '--', '--help'], paths).wantsHelp).toBe(false);
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
