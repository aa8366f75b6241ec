import { cu } from '../../contract/prices.ts';
import type { ExportJournal } from '../../state/journal/open-journal.ts';

/**
 * Settles the batches that were in flight when the last run of an export died. Any of them may have been
 * charged, whatever the meter shows now; the ledger has had their bounds since before they were sent.
 */
export async function settleLostBatches(
  journal: ExportJournal,
): Promise<{ readonly handles: number; readonly cuAtMost: number }> {
  let handles = 0;
  let sum = 0;
  for (const { batch, positions } of journal.openBatches()) {
    const cuAtMost = positions.length * cu.reveal;
    await journal.lost(batch, cuAtMost);
    handles += positions.length;
    sum += cuAtMost;
  }
  return { handles, cuAtMost: sum };
}
