import type { Batch, Delivery } from '../exec/delivery.ts';
import type { Writer } from '../ports.ts';
import type { TailRow } from '../post-row.ts';

/**
 * `left`: the store gives the batch to a member again. `closed`: the output has no reader any more.
 */
export type BatchOutcome = 'done' | 'left' | 'closed';

/**
 * Delivers the batches of a group. The position of a group is what was acknowledged, so a batch is
 * delivered as a whole.
 */
export interface BatchDelivery {
  /**
   * The maximum number of rows in a batch, and how long an incomplete batch waits for more rows.
   */
  readonly batch: number;
  readonly lingerMs: number;
  /** `over` is aborted when another member gets the batch. */
  deliver(rows: readonly TailRow[], over: AbortSignal): Promise<BatchOutcome>;
}

const PRINTED_BATCH = 100;

export class PrintedBatches implements BatchDelivery {
  readonly batch = PRINTED_BATCH;
  readonly lingerMs = 0;
  readonly #writer: Writer;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async deliver(rows: readonly TailRow[]): Promise<BatchOutcome> {
    if (rows.length > 0 && !(await this.#writer.write(rows))) return 'closed';
    return (await this.#writer.flush()) ? 'done' : 'closed';
  }
}

interface Handing {
  readonly batch: number;
  readonly lingerMs: number;
  encode(row: TailRow): Uint8Array;
  deliver(batch: Batch, stop: AbortSignal): Promise<Delivery>;
}

export class CommandBatches implements BatchDelivery {
  readonly batch: number;
  readonly lingerMs: number;
  #number = 0;
  readonly #handing: Handing;
  readonly #stop: AbortSignal;

  constructor(handing: Handing, stop: AbortSignal) {
    this.batch = handing.batch;
    this.lingerMs = handing.lingerMs;
    this.#handing = handing;
    this.#stop = stop;
  }

  async deliver(rows: readonly TailRow[], over: AbortSignal): Promise<BatchOutcome> {
    if (rows.length === 0) return 'done';
    this.#number++;
    const lines = rows.map((row) => ({
      id: row.id,
      at: row.at,
      line: this.#handing.encode(row),
    }));
    const stop = AbortSignal.any([this.#stop, over]);
    const outcome = await this.#handing.deliver({ number: this.#number, rows: lines }, stop);
    return outcome === 'left' ? 'left' : 'done';
  }
}
