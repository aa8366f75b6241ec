// Reports phrases that make sentences hard to read, in the source, the docs, the README and the tests.
// With --count it prints the number of findings per folder. Any finding makes the exit code 1; there is no list of
// exceptions.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Each phrase with a better one. A space also matches a line break inside a comment or a paragraph. */
const phrases = [
  ['(?<!there )is no(?! longer| one)', 'is not a, invalid, unknown'],
  ['(?<!there )(?:is|are) none', 'not found, there is no'],
  ['none of the', 'no, not one of'],
  ['anew|afresh', 'again'],
  ['told apart', 'distinguished'],
  ['ever more', 'at growing intervals'],
  ['at the least', 'at least'],
  ['none held', 'not found'],
  ['for want of', 'because there is no'],
  ['(?:is|are) (?:told|said)', 'is reported'],
  ['as (?:it|they) came', 'unchanged'],
  ['purse|sieve|outlet|keeper', 'allowance, filter, writer, checkpointer'],
  ['mend(?:s|ed)?', 'repair, fix'],
  ['in vain', 'without a result'],
  ['whoever|whomever', 'name the subject'],
  ['(?:go|goes|going|gone|went) on', 'continue, resume'],
  ['unasked', 'without confirmation'],
  ["can not|can't", 'cannot'],
  ['(?:nobody|no one) (?:is|says|reads|tells|knows|asks|has)', 'name the subject'],
  ['stands? (?:beside|between)', 'is next to, is between'],
  ['seen to by', 'handled by'],
  ['at the most', 'at most'],
  ['all the same', 'anyway, still'],
].map(([phrase, better]) => ({ pattern: patternOf(phrase), better }));

function patternOf(phrase) {
  const gap = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\*|//)?[ \t]*)+`;
  return new RegExp(String.raw`\b(?:${phrase.replaceAll(' ', gap)})\b`, 'gi');
}

/** This file quotes the phrases. */
const self = '.tools/language.mjs';

const files = [
  'README.md',
  ...['docs', 'src', 'test', 'bin', '.tools'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:md|ts|mjs|js)$/.test(name))
      .map((name) => `${folder}/${name}`),
  ),
].filter((file) => file !== self);

const findings = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return phrases.flatMap(({ pattern, better }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      phrase: found.replace(/\s+(?:\*|\/\/)?\s*/g, ' '),
      better,
    })),
  );
});

if (process.argv.includes('--count')) {
  const counts = new Map();
  for (const { file } of findings) {
    const folder = file.split('/').slice(0, 2).join('/');
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of [...counts].sort())
    process.stdout.write(`${String(count).padStart(5)}  ${folder}\n`);
  process.stdout.write(`${String(findings.length).padStart(5)}  total\n`);
} else {
  for (const { file, line, phrase, better } of findings) {
    process.stdout.write(`${file}:${line}: "${phrase}" (better: ${better})\n`);
  }
}
process.exitCode = findings.length > 0 ? 1 : 0;
