import { expect, test } from 'vitest';
import { isLocked, withLock } from '../../src/base/lock.ts';
import { KeptLogs } from '../../src/state/kept-logs.ts';
import { openFolder } from '../folder.ts';

test('what is written is locked, if another key replaces this one during the wait', async () => {
  const owner = { dir: openFolder(), baseUrl: 'http://127.0.0.1:1', key: 'first' };
  const logs = new KeptLogs(owner, 'answers', ['.']);
  const first = logs.folder ?? '';
  const written: unknown[] = [];
  const writing = await withLock(`${first}.lock`, () => {
    const begun = logs.write(() => written.push([logs.folder, isLocked(`${logs.folder}.lock`)]));
    owner.key = 'second';
    return { begun };
  });
  await writing.begun;
  expect(logs.folder).not.toBe(first);
  expect(written).toEqual([[logs.folder, true]]);
});
