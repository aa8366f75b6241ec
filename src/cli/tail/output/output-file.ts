import { basename } from 'node:path';
import type { Sink } from '../../../output/sink.ts';
import type { Context } from '../../context.ts';
import { everySecond } from '../every-second.ts';
import { createCompressor } from './compress.ts';
import { type FileIdentity, openFollowed } from './followed-file.ts';
import type { RotateRule } from './rotation.ts';

/** The flags that divide the output of a tail into files. */
export interface RotateFlags {
  readonly rotate: RotateRule | undefined;
  readonly compress: boolean;
}

/** The output file of a tail, with rotation and compression. */
export interface OutputFile {
  readonly sink: Sink;
  readonly identity: FileIdentity;
  /** Stops checking the file. Unless a signal ends the run, also waits for the compression. */
  end(): Promise<void>;
}

/** Opens the output. Calls `moved` when the output continues in another file. */
export async function openOutputFile(
  { io, notice, signal, diskWait }: Pick<Context, 'io' | 'notice' | 'signal' | 'diskWait'>,
  out: string,
  { rotate, compress, timeField }: RotateFlags & { readonly timeField: string },
  moved: () => void,
): Promise<OutputFile> {
  const compressor = compress ? createCompressor(out, signal, notice) : undefined;
  const file = await openFollowed(out, {
    mono: io.clock.mono,
    now: io.clock.now,
    rotate: rotate && { rule: rotate, timeField },
    warn: notice,
    retry: (step) => diskWait.retry(out, step),
    moved(how, name) {
      if (how === 'finished') notice(`finished ${basename(name ?? out)}: continuing in ${out}`);
      else notice(`${out} was ${how}: continuing in a new file`);
      moved();
      if (how === 'finished') compressor?.start();
    },
  });
  compressor?.start();
  const ended = new AbortController();
  const stopListening = io.onReopen(() => void file.check());
  const watch = everySecond(io.clock, ended.signal, file.check);
  return {
    sink: file.sink,
    get identity() {
      return file.identity;
    },
    async end() {
      stopListening();
      ended.abort();
      await watch;
      await compressor?.settled();
    },
  };
}
