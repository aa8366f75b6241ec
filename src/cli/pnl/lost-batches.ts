import { cu } from '../../contract/endpoints.ts';
import type { Allowance } from '../../core/pnl/allowance.ts';
import { WORK_MS } from '../../core/pnl/pnl-run.ts';
import type { ExportJournal } from '../../state/journal/journal.ts';
import { openLedger } from '../../state/ledger.ts';
import type { Context } from '../context.ts';

/**
 * Settles what an interrupted run left open: a batch that was sent and whose answer nobody has. Where the
 * service's meter has not moved since, it was not paid for; everywhere else it counts as lost.
 */
export async function settleLostBatches(
  journal: ExportJournal,
  context: Context,
  purseOf: () => Promise<Allowance>,
): Promise<{ readonly handles: number; readonly cuAtMost: number }> {
  const { clock } = context.io;
  let handles = 0;
  let sum = 0;
  for (const { batch, positions, unitsUsed, partial } of journal.openBatches()) {
    const purse = await purseOf();
    await purse.refresh(context.signal);
    const now = clock.now();
    const age = now - (journal.writtenAt ?? now);
    const month = (time: number) => new Date(time).toISOString().slice(0, 7);
    // With the month the meter begins anew, and where it stands tells nothing any more.
    const before = month(now) === month(journal.startedAt) ? unitsUsed : null;
    // Who dies does not end the work of the service: it may be at it yet.
    const left = Math.max(0, WORK_MS - Math.max(0, age));
    const unmoved = !partial && (await purse.unmoved(before, left, context.signal));
    // Called off: it stays open for the next run.
    context.signal.throwIfAborted();
    if (unmoved) {
      await journal.dropped(batch);
      continue;
    }
    const most = positions.length * cu.reveal;
    const moved = before === null ? most : (purse.unitsUsed ?? 0) - before;
    const cuAtMost = moved > 0 ? Math.min(most, moved) : most;
    // A part of the answer is here: then the ledger has the whole of its price already.
    if (!partial) enter(context, cuAtMost);
    await journal.lost(batch, cuAtMost);
    handles += positions.length;
    sum += cuAtMost;
  }
  return { handles, cuAtMost: sum };
}

function enter({ settings, io, command, notice }: Context, cuAtMost: number): void {
  openLedger({ dir: settings.folders.state, notice: notice }).append({
    time: io.clock.now(),
    command,
    profile: settings.profile,
    endpoint: 'users.pnl',
    status: null,
    cu: 0,
    cuAtMost,
  });
}
