import { describe, expect, it } from 'vitest';
import { completeLine } from '../../../src/cli/docs/completion/candidates.ts';
import { outlineOf } from '../../../src/cli/docs/completion/outline.ts';
import { allLeaves } from '../../../src/cli/docs/help.ts';

const leaves = await allLeaves();
const outline = outlineOf(leaves);

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
    ['trdr config get ke', ['key', 'keyCommand', 'keyHeader']],
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
    ['trdr thesis tail --to', ['--token']],
    ['trdr thesis tail --token x --to', ['--token']],
    ['trdr thesis tail --lag 5s --la', []],
    ['trdr auth switch --max', []],
    ['trdr --max', ['--max-cu', '--max-reveals']],
    ['trdr whois -- --as', ['handle --as  false']],
    ['trdr auth switch de', ['profile de  false']],
    ['trdr whois --sandbox mi', ['handle mi  true']],
    ['trdr --profile desk whois @mi', ['handle @mi desk false']],
    ['trdr whois --profile=desk mira so', ['handle so desk false']],
  ])('at the end of "%s": %j', (line, expected) => expect(words(line)).toEqual(expected));

  it('every command and group, with its summary', () => {
    for (const leaf of leaves) {
      const { path } = leaf.spec;
      const summary = leaf.summary();
      const [first = '', second] = path.split(' ');
      expect(words('trdr ')).toContain(first);
      const listed = offers(second === undefined ? 'trdr ' : `trdr ${first} `).candidates;
      expect(listed).toContainEqual({ word: second ?? first, about: summary });
    }
  });

  it('no field twice, and the flags and formats of a command', () => {
    expect(words('trdr whois --fields id,i')).not.toContain('id,id');
    expect(words('trdr thesis tail -')).toEqual(
      expect.arrayContaining(['-o', '--via', '--quiet', '-q']),
    );
    expect(words('trdr thesis tail -o ')).not.toContain('json');
    expect(words('trdr thesis list -o ')).toContain('json');
  });

  it.each([
    ['trdr whois --file ', 'files'],
    ['trdr whois --out=', 'files'],
    ['trdr api /v2/user/', 'nospace'],
    ['trdr whois --fields id', 'nospace'],
    ['trdr whois --as ', undefined],
  ])('files, or words that continue: "%s" %s', (line, directive) =>
    expect(offers(line).directive).toBe(directive),
  );
});
