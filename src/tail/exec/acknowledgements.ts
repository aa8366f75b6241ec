import { acknowledgedLine, readStartCheckpoint, splitCheckpoint, startCheckpoint } from './acknowledged.ts';
import type { Batch } from './batch.ts';

/** Saves acknowledgements: complete checkpoints, each followed by the batches acknowledged since. */
export interface Acknowledgements {
  /** The ids that an earlier run had acknowledged. */
  readonly before: ReadonlySet<string>;
  /** Called before a batch is handed over: a run without a checkpoint saves its start. */
  begin(batch: Batch): void;
  /** Called after a batch was acknowledged; `end` counts the rows of the run up to its last one. */
  add(batch: Batch, end: number): void;
  /** Replaces the checkpoint with one that covers the rows of the run up to `covered`. */
  save(checkpoint: string, covered: number): void;
}

/** The file of a checkpoint. */
export interface CheckpointFile {
  /** The text of an earlier run; undefined if there is no file. */
  readonly text: string | undefined;
  replace(text: string): void;
  /** Appends a line; false if the file is no longer there. */
  append(line: string): boolean;
}

interface Options {
  readonly feed: string;
  /** The post time of the start, if a flag gives it. */
  readonly since: number | null;
}

export function createAcknowledgements(
  { text, ...file }: CheckpointFile,
  { feed, since: asked }: Options,
): Acknowledgements {
  const { head: old, since } = splitCheckpoint(text ?? '');
  const start = text === undefined ? undefined : readStartCheckpoint(text, feed);
  const hasCheckpoint = text !== undefined && start === undefined;
  const earlier = since.length === 0 ? '' : `${JSON.stringify({ acknowledged: since })}\n`;
  // A run without a checkpoint reads from its start again, so the earlier batches must be saved until the end of this run.
  const inherited = hasCheckpoint ? '' : earlier;
  let head = hasCheckpoint || start ? `${old}\n` : undefined;
  let lines = [{ end: 0, line: hasCheckpoint ? earlier : '' }];
  /** Whether the file is complete and was written by this run, so that lines can be appended. */
  let appendable = false;

  const replace = () => {
    file.replace((head ?? '') + inherited + lines.map(({ line }) => line).join(''));
    appendable = true;
  };

  return {
    before: new Set(since.map(([id]) => id)),
    begin({ rows }) {
      if (head !== undefined) return;
      const times = rows.map(({ at }) => at).filter((at) => at !== null);
      const oldest = times.length === 0 ? null : Math.min(...times);
      head = `${startCheckpoint(feed, asked ?? oldest)}\n`;
      replace();
    },
    add(batch, end) {
      const line = acknowledgedLine(batch);
      lines.push({ end, line });
      if (!appendable || !file.append(line)) replace();
    },
    save(checkpoint, covered) {
      head = checkpoint;
      lines = lines.filter(({ end }) => end > covered);
      replace();
    },
  };
}
