import { acknowledgedLine, readStartCheckpoint, splitCheckpoint, startCheckpoint } from './acknowledged.ts';
import type { Batch } from './batch.ts';

/** Saves what was acknowledged: whole checkpoints, and behind each the batches acknowledged since. */
export interface Acknowledgements {
  /** Ids that an earlier run had acknowledged when it ended. */
  readonly before: ReadonlySet<string>;
  /** A batch is about to be handed over: a run without a checkpoint remembers where it began. */
  begin(batch: Batch): void;
  /** A batch was acknowledged; `end` counts the rows of the run up to its last one. */
  add(batch: Batch, end: number): void;
  /** Replaces the checkpoint by one that covers the rows of the run up to `covered`. */
  save(checkpoint: string, covered: number): void;
}

/** The file of a checkpoint. */
export interface CheckpointFile {
  /** What an earlier run left; undefined if there is no file. */
  readonly text: string | undefined;
  replace(text: string): void;
  /** Appends a line; false if the file is no longer there. */
  append(line: string): boolean;
}

interface Options {
  readonly feed: string;
  /** Post time of the start, where the flags say so. */
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
  // A run without a checkpoint reads from its start again, so its batches have to be remembered until the end of this one.
  const inherited = hasCheckpoint ? '' : earlier;
  let head = hasCheckpoint || start ? `${old}\n` : undefined;
  let lines = [{ end: 0, line: hasCheckpoint ? earlier : '' }];
  /** The file as it stands is whole, and ours to append to. */
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
