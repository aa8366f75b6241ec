import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureFolder, fileFailure, readBounded } from '../../src/base/files.ts';
import { room } from '../state/room.ts';

const { under } = room();
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

test('an existing folder keeps its mode, because others may use it', () => {
  const folder = under('theirs');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  ensureFolder(folder);
  expect(mode(folder)).toBe('755');
});

test('reading stops at its limit, and a missing file reads as empty', () => {
  const file = under('bounded');
  expect(readBounded(file, 10)).toBeUndefined();
  expect(readBounded(join('/dev/null', 'x'), 10)).toBeUndefined();
  writeFileSync(file, 'x'.repeat(10_000));
  expect(readBounded(file, 10_000)).toHaveLength(10_000);
  expect(() => readBounded(file, 9_999)).toThrow(expect.objectContaining({ code: 'EFBIG' }));
  expect(() => readBounded('/dev/zero', 100_000)).toThrow(
    expect.objectContaining({ code: 'ENOTREG' }),
  );
  expect(() => readBounded(dirname(file), 10)).toThrow(expect.objectContaining({ code: 'EISDIR' }));
  expect(existsSync(file)).toBe(true);
});

test('errors are described in words', () => {
  const full = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
  expect(fileFailure('write', '/f', full, 'make room')).toMatchObject({
    kind: 'local',
    code: 'ENOSPC',
    message: 'cannot write /f: the disk is full',
    hint: 'make room',
  });
  expect(
    fileFailure('read', '/f', Object.assign(new Error(''), { code: 'EBUSY' })).message,
  ).toContain('EBUSY');
  const denied = Object.assign(new Error(''), { code: 'EACCES' });
  expect(fileFailure('write', '/f', denied).hint).toContain('check the permissions');
  expect(fileFailure('write', '/f', denied, 'own hint').hint).toBe('own hint');
  expect(fileFailure('read', '/f', 'odd').message).toContain('unknown error');
  const absent = Object.assign(new Error(''), { code: 'ENOENT' });
  expect(fileFailure('read', '/f', absent).message).toBe('cannot read /f: it does not exist');
  expect(fileFailure('write', '/d/f', absent).message).toBe(
    'cannot write /d/f: its folder does not exist',
  );
  expect(fileFailure('write in', '/d', absent).message).toBe(
    'cannot write in /d: it does not exist',
  );
});
