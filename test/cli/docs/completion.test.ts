import { describe, expect, it } from 'vitest';
import { completeLine } from '../../../src/cli/docs/completion/candidates.ts';
import { outlineOf } from '../../../src/cli/docs/completion/outline.ts';
import { allCommands } from '../../../src/cli/docs/help.ts';

const commands = await allCommands();
const outline = outlineOf(commands);

/** The completions at the end of a line. Instead of names from this machine, they contain the arguments of the lookup. */
const offers = (line: string) =>
  completeLine(outline, line, (kind, prefix, { profile, sandbox }) => [
    [kind, prefix, profile ?? '', sandbox].join(' '),
  ]);
const words = (line: string) => offers(line).candidates.map(({ word }) => word);

describe('completion offers', () => {
  it.each<readonly [string, readonly string[]]>([
    ['trdr who', ['whois']],
    ['trdr launchpad b', ['board']],
    ['trdr --sandbox launchpad b', ['board']],
    ['trdr -o json launchpad b', ['board']],
    ['trdr launchpad board --per', ['--period']],
    ['trdr launchpad board --period ', ['daily', 'weekly', 'monthly']],
    ['trdr launchpad board --period=w', ['--period=weekly']],
    ['trdr me -o nd', ['ndjson']],
    ['trdr --output c', ['csv']],
    ['trdr completion po', ['powershell']],
    ['trdr completion zsh ', []],
    ['trdr price thesis.u', ['thesis.user', 'thesis.userToken']],
    ['trdr nonsense ', []],
    ['trdr launchpad nonsense ', []],
    ['trdr whois --as ha', ['handle']],
    ['trdr whois --nonsense ', ['handle   false']],
    ['trdr help exit', ['exit-codes']],
    ['trdr help cache ', ['clear', 'stats']],
    ['trdr help thesis list ', []],
    ['trdr schema laun', ['launchpad']],
    ['trdr schema launchpad us', ['user']],
    ['trdr schema mon', []],
    ['trdr config set retr', ['retries']],
    ['trdr config set color ', ['auto', 'always', 'never']],
    ['trdr config set --profile desk utc ', ['true', 'false']],
    ['trdr config set retries ', []],
    ['trdr config get ke', ['key', 'keyCommand']],
    ['trdr whois --fields sub', ['subject']],
    ['trdr whois --fields subject,han', ['subject,handle']],
    ['trdr whois --fields .new,han', ['.new,handle']],
    ['trdr whois --fields=subject,han', ['--fields=subject,handle']],
    ['trdr me --fields usage.units', ['usage.unitsUsed', 'usage.unitsRemaining']],
    ['trdr api po', []],
    ['trdr api PO', ['POST']],
    ['trdr api /v2/m', ['/v2/me']],
    ['trdr api GET /v2/thesis/u', ['/v2/thesis/user/']],
    ['trdr whois "two words" --stri', ['--strict']],
    ['trdr  whois\t"a" c\\ d \'e"f\' mi', ['handle mi  false']],
    ['trdr whois "a \\" mi', ['handle a " mi  false']],
    ['trdr whois ""', ['handle   false']],
  ])('at the end of "%s": %j', (line, expected) => expect(words(line)).toEqual(expected));

  it('every command and group, with its summary', () => {
    for (const { path, summary } of commands) {
      const [first = '', second] = path.split(' ');
      expect(words('trdr ')).toContain(first);
      const listed = offers(second === undefined ? 'trdr ' : `trdr ${first} `).candidates;
      expect(listed).toContainEqual({ word: second ?? first, about: summary });
    }
  });

  it('the flags of a command, each once unless it is repeatable', () => {
    expect(words('trdr thesis tail --to')).toEqual(['--token']);
    expect(words('trdr thesis tail --token x --to')).toEqual(['--token']);
    expect(words('trdr thesis tail --lag 5s --la')).toEqual([]);
    expect(words('trdr thesis tail -')).toEqual(expect.arrayContaining(['-o', '--via', '--quiet', '-q']));
    expect(words('trdr auth switch --max')).toEqual([]);
    expect(words('trdr --max')).toEqual(['--max-cu']);
  });

  it('no flags after --, and no field twice', () => {
    expect(words('trdr whois -- --as')).toEqual(['handle --as  false']);
    expect(words('trdr whois --fields id,i')).not.toContain('id,id');
  });

  it('no document format for a stream', () => {
    expect(words('trdr thesis tail -o ')).not.toContain('json');
    expect(words('trdr thesis list -o ')).toContain('json');
  });

  it('local names, for the profile on the line', () => {
    expect(words('trdr auth switch de')).toEqual(['profile de  false']);
    expect(words('trdr whois --sandbox mi')).toEqual(['handle mi  true']);
    expect(words('trdr --profile desk whois @mi')).toEqual(['handle @mi desk false']);
    expect(words('trdr whois --profile=desk mira so')).toEqual(['handle so desk false']);
  });

  it('files for file arguments, and no space if the word continues', () => {
    expect(offers('trdr whois --file ')).toEqual({ candidates: [], directive: 'files' });
    expect(offers('trdr whois --out=').directive).toBe('files');
    expect(offers('trdr api /v2/user/').directive).toBe('nospace');
    expect(offers('trdr whois --fields id').directive).toBe('nospace');
    expect(offers('trdr whois --as ').directive).toBeUndefined();
  });
});
