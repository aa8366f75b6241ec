import { digestOf, type ExportJournal, openJournal } from '../../src/state/export-journal/open-journal.ts';

/** A service as an export sees it: paid batches and a free meter. */
export interface Service {
  ask(handles: readonly string[]): Promise<{ rows: readonly unknown[]; cu: number }>;
  me(): Promise<number>;
}

export const PRICE = 30_000;

/** A minimal export that makes the calls of a journal in the order that the journal requires. */
export async function runExport(
  out: string,
  handles: readonly string[],
  service: Service,
  { batch = 3, stop, onLost }: { batch?: number; stop?: () => void; onLost?: (handles: number) => void } = {},
): Promise<{ readonly lost: string[] }> {
  const identity = { inputs: digestOf(handles), format: 'ndjson', flags: { batch } };
  const journal = await openJournal({ out, identity, size: handles.length, resume: true, now: () => 1_000 });
  const lost: string[] = [];
  try {
    for (const open of journal.openBatches()) {
      const paid = open.partial || (await service.me()) > (open.unitsUsed ?? -1);
      if (!paid) await journal.dropped(open.batch);
      else {
        lost.push(...open.positions.map((position) => handles[position] ?? ''));
        onLost?.(open.positions.length);
        await journal.lost(open.batch, open.positions.length * PRICE);
      }
    }
    for (let next = journal.free(batch); next.length > 0; next = journal.free(batch)) {
      const number = await journal.asking({ positions: next, unitsUsed: await service.me(), bytes: 600 });
      const { rows, cu } = await service.ask(next.map((position) => handles[position] ?? ''));
      await journal.answered(number, {
        rows: next.map((position, at) => ({ position, value: rows[at] })),
        cu,
        requestId: `r${number}`,
      });
      stop?.();
    }
    await journal.deliver(linesOf(journal));
  } finally {
    await journal.close();
  }
  return { lost };
}

async function* linesOf(journal: ExportJournal): AsyncGenerator<string> {
  for await (const { value } of journal.values()) yield `${JSON.stringify(value)}\n`;
}
