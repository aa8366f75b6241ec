import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { JournalProgress, MemoryProgress } from '../../../src/cli/pnl/progress.ts';
import type { Subject } from '../../../src/core/lookup/subject.ts';
import type { NumbersResult } from '../../../src/core/pnl/request-batch.ts';
import { openJournal } from '../../../src/state/export-journal/open-journal.ts';
import { subjectsUpTo } from '../../core/pnl/subjects.ts';
import { openFolder } from '../../folder.ts';

const resultOf = (subject: Subject): NumbersResult => ({
  subject,
  record: { subject: subject.text, found: true },
});

async function journalOf(subjects: readonly Subject[], out: string, resume = false) {
  const texts = subjects.map(({ text }) => text);
  const identity = { texts, size: texts.length, noun: 'the handles' };
  const journal = await openJournal(out, identity, null, resume ? 'resume' : 'refuse');
  onTestFinished(() => journal.close());
  return { journal, progress: new JournalProgress(journal, subjects) };
}

test('progress in memory has the subjects without an answer, and keeps no lookup for a later run', async () => {
  const subjects = subjectsUpTo(4);
  const progress = new MemoryProgress(subjects);
  expect(progress.open()).toBe(subjects);
  const [first, , third] = subjects;
  await progress.found([first, third].flatMap((subject) => (subject ? [{ subject }] : [])));
  expect(progress.open()).toEqual([subjects[1], subjects[3]]);
  expect(subjects.map((subject) => progress.has(subject))).toEqual([true, false, true, false]);
  expect([progress.log, progress.isFinal()]).toEqual([undefined, false]);
});

describe('progress in a journal', () => {
  test('identifies subjects by their positions, and continues where the last run stopped', async () => {
    const subjects = subjectsUpTo(5);
    const out = join(openFolder(), 'pnl.csv');
    const first = await journalOf(subjects, out);
    const [asked, answered] = [subjects.slice(0, 2), subjects.slice(2, 4)];
    const lost = await first.progress.asking(asked);
    const batch = await first.progress.asking(answered);
    expect(first.progress.open()).toEqual([subjects[4]]);
    await first.progress.answered(batch, answered.map(resultOf));
    await first.progress.lost(lost, 60_000, '{"entries":[]}');
    expect(first.progress.open()).toEqual([...asked, subjects[4]]);
    first.journal.close();

    const again = await journalOf(subjects, out, true);
    expect(again.progress.open()).toEqual([...asked, subjects[4]]);
    expect([...again.progress.unread()]).toEqual([{ subjects: asked, answer: '{"entries":[]}' }]);
    await again.progress.found(asked.map(resultOf));
    expect(again.progress.open()).toEqual([subjects[4]]);
    expect([...again.journal.values()].map(({ value }) => value)).toEqual([
      ...subjects.slice(0, 4).map((subject) => resultOf(subject).record),
      undefined,
    ]);
  });

  test('keeps a lookup without a handle only if another one would have the same result', async () => {
    const subjects = subjectsUpTo(1);
    const { progress } = await journalOf(subjects, join(openFolder(), 'pnl.csv'));
    const [result] = subjects.map(resultOf);
    if (!result) throw new Error('no result');
    const isFinal = (failure: Failure) => progress.isFinal({ ...result, failure });
    expect(progress.isFinal(result)).toBe(true);
    expect(isFinal(new Failure('usage', 'no', { code: 'VALIDATION_ERROR', status: 400 }))).toBe(
      true,
    );
    expect(isFinal(new Failure('network', 'no', { code: 'BROKEN' }))).toBe(false);
  });

  test('belongs to the subjects of one run', async () => {
    const { progress } = await journalOf(subjectsUpTo(1), join(openFolder(), 'pnl.csv'));
    expect(() => progress.asking(subjectsUpTo(1))).toThrow('not a subject of this export');
  });
});
