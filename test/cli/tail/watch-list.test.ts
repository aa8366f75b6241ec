import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { watchList } from '../../../src/cli/tail/watch-list.ts';
import { virtualClock } from '../../core/virtual-clock.ts';
import { openHome } from '../../e2e/harness.ts';

test('an edited list is noticed once, however it is edited, and nothing else is', async () => {
  const home = openHome();
  const list = join(home.path, 'desk.txt');
  const clock = virtualClock();
  const said: string[] = [];
  writeFileSync(list, 'mira\n');
  const io = { clock, cwd: home.path };
  const stop = watchList({ io, notice: (line) => said.push(line) }, 'desk.txt');
  const steps: [what: string, edit: () => void, notices: number][] = [
    ['nothing', () => {}, 0],
    ['the same text', () => writeFileSync(list, 'mira\n'), 0],
    ['another text', () => writeFileSync(list, 'mira\nsolwolf\n'), 1],
    ['no file for a moment', () => rmSync(list), 1],
    ['the same file again', () => writeFileSync(list, 'mira\nsolwolf\n'), 1],
    [
      'another file by the same name',
      () => {
        writeFileSync(`${list}.new`, 'solwolf\n');
        renameSync(`${list}.new`, list);
      },
      2,
    ],
  ];
  for (const [what, edit, notices] of steps) {
    edit();
    await clock.sleep(25_000);
    expect(said.length, what).toBe(notices);
  }
  await stop();
  expect(said[0]).toMatch(/^desk\.txt was edited: this run follows the list as it began/);
  expect(clock.pending).toBe(0);
});
