import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { textOf } from '../../../src/base/json-object.ts';
import type { ExportJournal } from '../../../src/state/export-journal/journal.ts';
import { type BegunJournal, openJournal } from '../../../src/state/export-journal/open-journal.ts';
import { room, runs } from '../room.ts';

const { under } = room();
const HANDLES = Array.from({ length: 11 }, (_, at) => `trader${at}`);
const FILE = HANDLES.map((_, at) => `v${at}\n`).join('');

function folder(name: string): { dir: string; out: string; journal: string } {
  const dir = under(name);
  mkdirSync(dir);
  return { dir, out: join(dir, 'out.ndjson'), journal: join(dir, 'out.ndjson.journal') };
}

const open = (
  out: string,
  { subjects = HANDLES, service = 'https://s', begun = 'resume' as BegunJournal } = {},
) => {
  const rows = { texts: subjects, size: subjects.length, noun: 'the handles' };
  return openJournal(out, rows, service, begun, textOf);
};
const rowsAt = (...rows: number[]) => rows.map((row) => ({ row, value: `v${row}` }));
const valuesOf = (journal: ExportJournal<string>) =>
  HANDLES.map((_, row) => journal.read(row) ?? null);

async function* linesOf(journal: ExportJournal<string>): AsyncGenerator<string> {
  for (const value of valuesOf(journal)) yield `${value}\n`;
}

test('resumes with any number of rows that were found at once', async () => {
  const { out } = folder('many');
  const subjects = Array.from({ length: 60_000 }, (_, at) => `trader${at}`);
  const journal = await open(out, { subjects });
  journal.take(rowsAt(...subjects.keys()));
  journal.close();
  const resumed = await open(out, { subjects });
  expect(resumed.states.count('answered')).toBe(subjects.length);
  expect(resumed.read(59_999)).toBe('v59999');
  resumed.close();
});

test('an export resumes from any state of its batches, and asks for exactly what has no answer', async () => {
  const fate = fc.constantFrom('answered', 'dies', 'lost', 'dropped', 'found');
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fate, fc.integer({ min: 1, max: 4 }))), async (batches) => {
      const { out, dir } = folder('any');
      const held = new Set<number>();
      for (const [how, size] of batches) {
        const journal = await open(out);
        expect(journal.states.count('answered')).toBe(held.size);
        journal.giveUp(1);
        const free = journal.states.open();
        expect(free).toEqual(HANDLES.flatMap((_, at) => (held.has(at) ? [] : [at])));
        const positions = free.slice(0, size);
        if (how === 'found') journal.take(rowsAt(...positions));
        else {
          const batch = journal.asking(positions);
          expect(journal.states.open()).toEqual(free.slice(size));
          if (how === 'answered') journal.answered(batch, rowsAt(...positions));
          if (how === 'lost') journal.lost(batch, 1, 'text');
          if (how === 'dropped') journal.dropped(batch);
        }
        if (how === 'answered' || how === 'found')
          for (const position of positions) held.add(position);
        expect(valuesOf(journal)).toEqual(HANDLES.map((_, at) => (held.has(at) ? `v${at}` : null)));
        journal.close();
      }
      const last = await open(out);
      last.take(rowsAt(...last.states.open(), ...[...last.openBatches.values()].flat()));
      await last.deliver(linesOf(last), false);
      last.close();
      expect(readFileSync(out, 'utf8')).toBe(FILE);
      expect(readdirSync(dir)).toEqual(['out.ndjson']);
    }),
    runs(40),
  );
});

test.each([
  ['notes of the user', '', 'numbers of\nNovember\n'],
  ['a folder of the user', 'notes', 'notes'],
  ['the journal of a later version', 'export.json', '{"version":4,"handles":"","service":null}'],
])('%s in the place of the journal is rejected and not changed', async (_, name, text) => {
  const { out, journal } = folder('foreign');
  if (name) mkdirSync(journal);
  const file = join(journal, name);
  writeFileSync(file, text);
  const rejection = { kind: 'local', code: 'JOURNAL_VERSION' };
  for (const begun of ['refuse', 'resume', 'discard'] as const)
    await expect(open(out, { begun })).rejects.toMatchObject(rejection);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test.each(['export.json', '0'])('a damaged file of a journal is named: %s', async (name) => {
  const { out, journal } = folder('damaged');
  const first = await open(out);
  first.take(rowsAt(0));
  first.close();
  writeFileSync(join(journal, name), '{"kind":"answered","positions":[11]}\n');
  await expect(open(out)).rejects.toMatchObject({
    code: 'JOURNAL_DAMAGED',
    message: `${join(journal, name)} is damaged`,
  });
});

test('an answer that another program removed is not taken for one that was never there', async () => {
  const { out, journal } = folder('removed');
  const opened = await open(out);
  opened.take(rowsAt(...HANDLES.keys()));
  expect(statSync(journal).mode & 0o777).toBe(0o700);
  rmSync(join(journal, '0'));
  expect(() => opened.read(0)).toThrow(`${join(journal, '0')} is damaged`);
  opened.close();
});

test('a journal without requests does not prevent an export', async () => {
  const { out, journal } = folder('empty');
  (await open(out)).close();
  expect(existsSync(journal)).toBe(false);
  // A process was killed before and after it had written the header.
  mkdirSync(journal);
  for (const service of ['https://a', 'https://b']) {
    const opened = await open(out, { begun: 'refuse', service });
    expect(opened.resumed).toBe(false);
    opened.close();
    mkdirSync(journal);
    writeFileSync(join(journal, 'export.json'), '{"version":3,"handles":"","service":""}');
  }
});
