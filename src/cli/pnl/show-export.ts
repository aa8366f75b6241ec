import { usageError } from '../../base/failure.ts';
import { normalHandle } from '../../contract/handles.ts';
import type { WindowName } from '../../contract/records/pnl.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { handlesText } from '../../core/pnl/planned-calls.ts';
import { type Comparison, readCompared } from '../../input/earlier/compare-pnl.ts';
import { exportedNames } from '../../input/earlier/match-traders.ts';
import { readExport, windowsOf } from '../../input/earlier/pnl-export.ts';
import { namesText } from '../../output/notices.ts';
import type { ExitCode } from '../exit.ts';
import { LookupTally } from '../lookup/tally.ts';
import type { Context } from '../run/context.ts';
import { present, printer, type Shape, WHOLE_TABLE } from './present.ts';
import { outcomeOf } from './record-outcome.ts';

/**
 * Sends no requests. Without subjects, shows all handles; without windows, all windows of the file.
 */
export async function showExport(
  context: Context,
  from: string,
  subjects: readonly Subject[],
  windows: readonly WindowName[],
  options: Omit<Shape, 'windows' | 'handles'>,
  strict: boolean,
): Promise<ExitCode> {
  const tally = new LookupTally(strict);
  const { comparison } = options;
  const { io, notice } = context.terminal;
  const all = comparison ? readCompared(from, io, notice) : readExport(from, io);
  const onMissing = (missing: readonly Subject[]) => {
    notice(
      `not found in ${from} (${handlesText(missing.length)}): ${namesText(missing.map(({ text }) => text))}`,
    );
    for (const _ of missing) tally.add({ found: false, code: 'NOT_OBSERVED' });
  };
  const { ahead, records, size } = await readAhead(
    subjects.length > 0 ? select(all, subjects, onMissing) : all,
  );
  const there = windowsOf(ahead, from, windows);
  const shape: Shape = {
    ...options,
    comparison: comparison && within(comparison, there, from),
    windows: there,
    handles: size,
  };
  async function* counted() {
    for await (const record of records) {
      tally.add(outcomeOf(record));
      yield record;
    }
  }
  await present(counted(), shape, printer(context.out));
  return tally.exit();
}

/** The comparison, of the windows that both exports have. */
function within(comparison: Comparison, there: readonly WindowName[], from: string): Comparison {
  const windows = comparison.windows.filter((window) => there.includes(window));
  const [first] = windows;
  if (first === undefined)
    throw usageError(
      `${from} has no numbers for the window ${comparison.window}`,
      `choose with --window from ${there.join(', ')}`,
    );
  return {
    ...comparison,
    windows,
    window: windows.includes(comparison.window) ? comparison.window : first,
  };
}

/** The first records determine the layout of a table. `size` is infinite if there are more. */
async function readAhead(all: AsyncGenerator<PnlRecord>) {
  const ahead: PnlRecord[] = [];
  let more = true;
  while (ahead.length <= WHOLE_TABLE) {
    const { value, done } = await all.next();
    if (done) {
      more = false;
      break;
    }
    ahead.push(value);
  }
  async function* records() {
    yield* ahead;
    if (more) yield* all;
  }
  return { ahead, records: records(), size: more ? Number.POSITIVE_INFINITY : ahead.length };
}

/** Yields the records of these subjects, in their order. */
async function* select(
  all: AsyncIterable<PnlRecord>,
  subjects: readonly Subject[],
  onMissing: (subjects: readonly Subject[]) => void,
): AsyncGenerator<PnlRecord> {
  const byName = new Map<string, Subject>();
  for (const subject of subjects)
    for (const name of [subject.text, subject.value]) byName.set(normalHandle(name), subject);
  const bySubject = new Map<Subject, PnlRecord>();
  for await (const record of all) {
    for (const name of exportedNames(record)) {
      const subject = byName.get(name);
      if (subject && !bySubject.has(subject)) bySubject.set(subject, record);
    }
  }
  const missing = subjects.filter((subject) => !bySubject.has(subject));
  if (missing.length > 0) onMissing(missing);
  for (const subject of subjects) {
    const record = bySubject.get(subject);
    if (record) yield record;
  }
}
