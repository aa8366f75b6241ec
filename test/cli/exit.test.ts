import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitOf, limitCodes } from '../../src/cli/exit.ts';

const source = join(import.meta.dirname, '../../src');

test('the docs list the error codes of all limits and confirmations, with their exit codes', () => {
  const listed = Object.fromEntries(
    Object.entries(limitCodes).map(([code, { exit }]) => [code, exit]),
  );
  const found = new Map<string, number>();
  const unused = new Set(Object.keys(listed));
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(source, name), 'utf8');
    for (const code of unused) if (text.includes(`'${code}'`)) unused.delete(code);
    for (const [, made = ''] of text.matchAll(/new Failure\(([\s\S]*?\}),?\s*\)/g)) {
      const kind = /^\s*'(limit|confirm)'/.exec(made)?.[1];
      if (kind !== 'limit' && kind !== 'confirm') continue;
      const code = /\bcode:([^}]*?)(?:,\n|,? *\}|, hint)/.exec(made)?.[1] ?? '';
      for (const [each] of code.matchAll(/[A-Z]+_?[A-Z_]+/g)) found.set(each, exitOf[kind]);
    }
  }
  expect(listed).toMatchObject(Object.fromEntries(found));
  expect([...unused]).toEqual([]);
});
