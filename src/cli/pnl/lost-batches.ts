import { cu } from '../../contract/prices.ts';
import type { ExportJournal } from '../../state/export-journal/open-journal.ts';

/**
 * Marks as lost the batches whose outcome is not in the journal of an export, because an earlier run ended while
 * they were in flight. Each batch may have been charged, even if the usage of the key does not show this yet. The
 * ledger already contains the maximum cost of these batches.
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
