/** A post that is handed over to a command: its line, id and post time. */
export interface HandoffRow {
  readonly id: string;
  /** Post time, epoch ms. */
  readonly at: number | null;
  /** One line of NDJSON with a line end. */
  readonly line: Uint8Array;
}

/** Consecutive posts that are handed over together. */
export interface Batch {
  /** The number of the batch in its run; the first one is 1. */
  readonly number: number;
  readonly rows: readonly HandoffRow[];
}

/** The result of one attempt. Exit code 0 acknowledges the batch. */
export type CommandEnd =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly why: string;
      /**
       * The exit status as a shell reports it: 128 plus the signal number for a killed command, 127 for a
       * command that is not found.
       */
      readonly code: number;
    };

/** The events of a handoff, for notices. */
export type HandoffNotice =
  | {
      readonly kind: 'failed';
      readonly batch: Batch;
      readonly attempt: number;
      readonly why: string;
      readonly waitMs: number;
    }
  | { readonly kind: 'recovered'; readonly batch: Batch; readonly attempts: number }
  | { readonly kind: 'dead'; readonly batch: Batch; readonly attempts: number; readonly why: string };
