import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fieldsSeen, noteFields } from '../../src/state/seen-fields.ts';
import { room } from './room.ts';

const { under } = room();
const LISTED = ['id', 'handle'];

test('saves names once, for records with the same documented fields', () => {
  const dir = under('once');
  expect(fieldsSeen(dir, LISTED)).toEqual([]);
  noteFields(dir, LISTED, ['badge', 'tier']);
  noteFields(dir, LISTED, ['tier', 'rank']);
  expect(fieldsSeen(dir, LISTED)).toEqual(['badge', 'tier', 'rank']);
  expect(fieldsSeen(dir, ['id'])).toEqual([]);
  expect(readFileSync(join(dir, 'fields'), 'utf8').split('\n')).toHaveLength(4);
});

test('ignores names that are not safe in a shell, and stops before the file fills the disk', () => {
  const dir = under('hostile');
  noteFields(dir, LISTED, ['a b', 'x\ny', '\u001b[31m', '', 'é', 'x'.repeat(65), 'fine']);
  expect(fieldsSeen(dir, LISTED)).toEqual(['fine']);
  for (let round = 0; round < 40; round++) {
    noteFields(
      dir,
      LISTED,
      Array.from({ length: 50 }, (_, at) => `${'n'.repeat(50)}_${round}_${at}`),
    );
  }
  expect(readFileSync(join(dir, 'fields')).length).toBeLessThanOrEqual(64 * 1024);
});
