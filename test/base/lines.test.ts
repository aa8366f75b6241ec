import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter } from '../../src/base/lines.ts';

const cutInto = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const chunks: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
};

const split = (chunks: readonly Uint8Array[], longest: number) => {
  const lines = new LineSplitter(longest);
  return [...chunks.flatMap((chunk) => [...lines.push(chunk)]), ...lines.end()].map(
    ({ bytes, number, cut }) => [bytes.toString('utf8'), number, cut] as const,
  );
};

test('lines are the same however the input is split into chunks, and long ones are cut at the limit', () => {
  const texts = fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '#', '東'), maxLength: 12 }));
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(texts, fc.boolean(), sizes, (lines, ended, some) => {
      const text = lines.join('\n') + (ended ? '\n' : '');
      const wanted = text.split('\n').flatMap((line, index, all) => {
        const bytes = Buffer.from(line);
        if (index === all.length - 1 && bytes.length === 0) return [];
        return [[bytes.subarray(0, 16).toString('utf8'), index + 1, bytes.length > 16] as const];
      });
      expect(split(cutInto(Buffer.from(text), some), 16)).toEqual(wanted);
    }),
  );
});

test('a line without an end is emitted as soon as it is too long, and needs no more memory', () => {
  const lines = new LineSplitter(8);
  const chunk = new Uint8Array(1024).fill(97);
  expect([...lines.push(chunk)].map(({ bytes, cut }) => [bytes.length, cut])).toEqual([[8, true]]);
  let emitted = 0;
  for (let chunks = 0; chunks < 100_000; chunks++) emitted += [...lines.push(chunk)].length;
  expect(emitted).toBe(0);
  expect(
    [...lines.push(Buffer.from('\nb\n'))].map(({ bytes, number }) => [bytes.toString(), number]),
  ).toEqual([['b', 2]]);
});
