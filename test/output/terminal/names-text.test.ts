import { expect, test } from 'vitest';
import { namesText } from '../../../src/output/terminal/names-text.ts';

test('lists the first names, counts the others, and removes control characters', () => {
  expect(namesText(['a', 'b'], 2)).toBe('a b');
  const names = Array.from({ length: 1_500 }, (_, i) => `n${i}`);
  expect(namesText(names, 2)).toBe('n0 n1 and 1,498 more');
  expect(namesText(['a\u001b[2Jb'], 1)).not.toContain('\u001b');
});
