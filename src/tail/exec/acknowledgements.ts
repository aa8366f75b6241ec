import { acknowledgedLine, readStartCheckpoint, splitCheckpoint, startCheckpoint } from './acknowledged.ts';
import type { Batch } from './batch.ts';

/** Saves which posts were handed over: a checkpoint, followed by the batches that were acknowledged after it. */
export interface Acknowledgements {
  /** The ids of the posts in the batches that the file listed at the start: earlier runs have handed them over. */
  readonly before: ReadonlySet<string>;
  /**
   * The caller calls this before a batch is handed over. If the file has no checkpoint yet, saves the
   * post time from which the run hands over posts.
   */
  begin(batch: Batch): void;
  /**
   * The caller calls this after a batch was acknowledged or written to the dead-letter file. `end` is how many
   * rows the run has handed over, including this batch. Like the other methods, can be called again after a failure.
   */
  add(batch: Batch, end: number): void;
  /** Replaces the checkpoint with one that includes the first `covered` rows of the run. */
  save(checkpoint: string, covered: number): void;
}

/** Access to the file of a checkpoint. */
export interface CheckpointFile {
  /** The text that an earlier run wrote; undefined if there is no file. */
  readonly text: string | undefined;
  replace(text: string): void;
  /** Appends a line; returns false if the file no longer exists. */
  append(line: string): boolean;
}

interface Options {
  readonly feed: string;
  /** The start time that a flag sets; null if no flag sets it. */
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
  // Without a checkpoint, the next run reads the feed from the same post as this run. So the file must also list
  // the batches that earlier runs handed over.
  const inherited = hasCheckpoint ? '' : earlier;
  let head = hasCheckpoint || start ? `${old}\n` : undefined;
  let lines = [{ end: 0, line: hasCheckpoint ? earlier : '' }];
  /** Whether lines may be appended, because this run wrote the file completely. */
  let appendable = false;

  const replace = (first = head ?? '') => {
    file.replace(first + inherited + lines.map(({ line }) => line).join(''));
    appendable = true;
  };

  return {
    before: new Set(since.map(([id]) => id)),
    begin({ rows }) {
      if (head !== undefined) return;
      const times = rows.map(({ at }) => at).filter((at) => at !== null);
      const oldest = times.length === 0 ? null : Math.min(...times);
      const start = `${startCheckpoint(feed, asked ?? oldest)}\n`;
      replace(start);
      head = start;
    },
    add(batch, end) {
      const line = acknowledgedLine(batch);
      if (lines.at(-1)?.end !== end) lines.push({ end, line });
      const appends = appendable;
      // If the line does not fit on the disk, the next attempt replaces the file, which has a part of the line.
      appendable = false;
      appendable = appends && file.append(line);
      if (!appendable) replace();
    },
    save(checkpoint, covered) {
      head = checkpoint;
      lines = lines.filter(({ end }) => end > covered);
      replace();
    },
  };
}
