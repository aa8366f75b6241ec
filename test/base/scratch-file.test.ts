import { expect, test } from 'vitest';
import { ScratchFile } from '../../src/base/scratch-file.ts';

test('a scratch file returns all bytes, in any order, while others are added', () => {
  const file = new ScratchFile();
  const sizes = [1, 70_000, 3_000_000, 0, 2_000_000, 5_000_000, 12, 4_194_304, 900_000];
  const added = sizes.map((size, at) => {
    const bytes = Buffer.alloc(size, at + 1);
    return { bytes, place: file.add(bytes) };
  });
  for (const { bytes, place } of [...added, ...added.toReversed()])
    expect(Buffer.compare(file.read(place, bytes.length), bytes)).toBe(0);
});
