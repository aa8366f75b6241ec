import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const room = resolve(dirname(fileURLToPath(import.meta.url)), '../../src/output');

/** Everything that loading a module loads: modules of its folder, and packages by name. */
function loads(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(resolve(room, file), 'utf8');
  for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gm)) {
    const target = join(dirname(file), from);
    if (!from.startsWith('.')) {
      if (!from.startsWith('node:')) seen.add(from);
    } else if (!target.startsWith('..')) loads(target, seen);
  }
  return seen;
}

describe('loading', () => {
  it('of the machine formats loads neither tables nor packages', () => {
    const loaded = loads('format/printer.ts');
    expect([...loaded].filter((name) => !name.endsWith('.ts'))).toEqual([]);
    expect(loaded).not.toContain('format/table.ts');
    expect(loaded).not.toContain('format/format-cell.ts');
  });

  it.each([
    'error-text.ts',
    'notices.ts',
    'terminal/progress.ts',
    'terminal/style.ts',
    'sink.ts',
    'file.ts',
    'format/fields.ts',
    'suggest.ts',
  ])('of %s loads no package', (file) => {
    expect([...loads(file)].filter((name) => !name.endsWith('.ts'))).toEqual([]);
  });

  it('of a table loads string-width, but neither color nor cards', () => {
    expect([...loads('format/table-printer.ts')].filter((name) => !name.endsWith('.ts'))).toEqual([
      'string-width',
    ]);
  });
});
