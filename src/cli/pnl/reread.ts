import { answerFromJournal } from '../../core/pnl/batches.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import type { ExportJournal } from '../../state/export-journal/open-journal.ts';

/**
 * Parses responses that an earlier run saved because it could not parse them; a newer version of trdr may be
 * able to. Returns the number of handles that need not be paid for again.
 */
export async function readSavedAnswers(
  journal: ExportJournal,
  { texts, handleAt }: Targets,
): Promise<number> {
  let handles = 0;
  for await (const { positions, answer } of journal.unread()) {
    const subjectAt = (position = 0) => texts[position] ?? '';
    const asked = positions.map((position) => handleAt(position) ?? subjectAt(position));
    const rows = answerFromJournal(asked, answer).flatMap(({ record, failure }, place) =>
      failure
        ? []
        : [{ position: positions[place] ?? 0, value: { ...record, subject: subjectAt(positions[place]) } }],
    );
    if (rows.length === 0) continue;
    await journal.found(rows);
    handles += rows.length;
  }
  return handles;
}
