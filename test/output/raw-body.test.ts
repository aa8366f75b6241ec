import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headText, shownBody } from '../../src/output/raw-body.ts';

const seed = process.env['SEED'] ? { seed: Number(process.env['SEED']) } : {};

describe('a body on a terminal', () => {
  it('is indented like JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: true }), (text) => {
        const plain = JSON.stringify(JSON.parse(text));
        // Normalize the spelling of numbers first, because the output keeps the original spelling.
        expect(shownBody(plain)).toBe(`${JSON.stringify(JSON.parse(plain), null, 2)}\n`);
      }),
      { numRuns: 300, ...seed },
    );
  });
});

describe('the head of a response', () => {
  it('is safe on a terminal', () => {
    expect(headText(599, '', { 'x-a': '\u001b[2Jgone' }, true)).toBe('HTTP/1.1 599\nx-a: gone\n\n');
  });
});
