import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isHeld, tryLock } from '../../src/base/lock.ts';
import { rewriteFile } from '../../src/state/rewrite.ts';
import { room } from './room.ts';

const { under } = room();
const NOW = Date.UTC(2026, 10, 22);
const upper = (bytes: Buffer) => ({
  parts: [Buffer.from(bytes.toString('utf8').toUpperCase())],
  end: bytes.length,
});

test('a rewritten file keeps what was appended meanwhile, and ends with a complete line', () => {
  const path = under('late');
  writeFileSync(path, 'one\n');
  rewriteFile(path, NOW, (bytes) => {
    appendFileSync(path, 'two\nthree');
    return upper(bytes);
  });
  expect(readFileSync(path, 'utf8')).toBe('ONE\ntwo\nthree\n');
});

test('a file that another process rewrites is not changed', () => {
  const path = under('locked');
  writeFileSync(path, 'one\n');
  const lock = tryLock(`${path}.lock`, NOW);
  rewriteFile(path, NOW, upper);
  expect(readFileSync(path, 'utf8')).toBe('one\n');
  if (isHeld(lock)) lock.release();
  rewriteFile(path, NOW, upper);
  expect(readFileSync(path, 'utf8')).toBe('ONE\n');
});

test('a file stays as it was if it cannot be rewritten', () => {
  const path = under('failed');
  writeFileSync(path, 'one\n');
  rewriteFile(path, NOW, () => {
    throw new Error('broken');
  });
  expect(readFileSync(path, 'utf8')).toBe('one\n');
  rewriteFile(path, NOW, upper);
  expect(readFileSync(path, 'utf8')).toBe('ONE\n');
});
