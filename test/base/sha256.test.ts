import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '../../src/base/sha256.ts';
import { codePoints } from '../code-points.ts';
import { runs } from '../state/room.ts';

test('the digest is SHA-256', () => {
  fc.assert(
    fc.property(codePoints(400), (text) => {
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }),
    runs(500),
  );
});
