import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitCommand } from '../../../../src/cli/tail/exec/split-command.ts';

describe('a command line without a shell', () => {
  it.each([
    ['curl -fsS https://example.test/hook', ['curl', '-fsS', 'https://example.test/hook']],
    [`curl -H 'Content-Type: application/json'`, ['curl', '-H', 'Content-Type: application/json']],
    [`jq ".a | .b"`, ['jq', '.a | .b']],
    [String.raw`jq '{text: "\(.thesis)"}'`, ['jq', String.raw`{text: "\(.thesis)"}`]],
    [String.raw`a\ b "c \" d \\ \n" e'f'"g"`, ['a b', String.raw`c " d \ \n`, 'efg']],
    [`  mail  ''  -s "" `, ['mail', '', '-s', '']],
    [String.raw`echo \$HOME '$HOME' "\$HOME" 5$ a&b`, ['echo', '$HOME', '$HOME', '$HOME', '5$', 'a&b']],
  ])('%s', (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  it.each(['', '   ', `''`])('rejects a line without a command: %j', (text) => {
    expect(() => splitCommand(text)).toThrow('--exec has no command');
  });

  it.each([
    [`jq 'open`, /unterminated '/],
    [`jq "open\\"`, /unterminated "/],
    ['jq \\', /ends with a backslash/],
    ['jq . | curl', /"\|" in --exec needs a shell/],
    ['jq . >> file', /">>" in --exec needs a shell/],
    ['cmd 2>/dev/null', /"2>\/dev\/null" in --exec/],
    ['cat; true', /";" in --exec/],
    ['a && b', /"&&" in --exec/],
    ['curl $URL', /"\$URL" in --exec/],
    ['curl "$URL"', /"\$URL" in --exec/],
    [`curl "x$${'{URL}'}"`, /"\$\{URL\}" in --exec/],
    ['echo $(date)', /"\$\(date\)" in --exec/],
    ['echo `date`', /in --exec needs a shell/],
  ])('rejects what only a shell understands: %s', (text, message) => {
    expect(() => splitCommand(text)).toThrow(message);
  });

  it.runIf(process.platform !== 'win32')('splits as /bin/sh does', () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-z0-9=,.:/@%+-]{1,8}$/),
      fc.stringMatching(/^[ -&(-~]{0,8}$/).map((text) => `'${text}'`),
      fc.stringMatching(/^[ !#%&'()*+,./:;<=>?@[\]^_a-z{|}~-]{0,8}$/).map((text) => `"${text}"`),
      fc.constantFrom('\\ ', '\\"', '\\$', '"\\""', '"\\\\"', "''"),
    );
    const line = fc
      .array(
        fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
        {
          minLength: 1,
          maxLength: 5,
        },
      )
      .map((words) => words.join(' '));
    const lines = fc.sample(line, { numRuns: 200 });
    // Use one shell for all lines. Each word ends with NUL, and each line with the word END.
    const script = lines.map((each) => `printf '%s\\0' x ${each} END`).join('\n');
    const words = execFileSync('/bin/sh', ['-c', script]).toString().split('\0');
    for (const each of lines) {
      const end = words.indexOf('END');
      expect(splitCommand(`x ${each}`), each).toEqual(words.splice(0, end + 1).slice(0, -1));
    }
  });
});
