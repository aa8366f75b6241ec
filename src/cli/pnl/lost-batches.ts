import { cu } from '../../contract/prices.ts';
import type { ExportJournal } from '../../state/export-journal/open-journal.ts';

/**
 * Ends the batches that were in flight when the last run of an export died. Each of them may have been
 * charged, whatever the present usage shows. Their maximum cost is in the ledger already.
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
