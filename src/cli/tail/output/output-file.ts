import { basename } from 'node:path';
import type { Context } from '../../context.ts';
import { everySecond } from '../every-second.ts';
import { type FollowedFile, type FollowedOptions, openFollowed } from './followed-file.ts';
import type { RotateRule } from './rotation.ts';

/** The output file of a tail, with rotation. */
interface OutputFile extends Pick<FollowedFile, 'sink' | 'place' | 'waiting' | 'saw'> {
  /** Stops checking the file. */
  end(): Promise<void>;
}

/** Opens the output. Calls `moved` when the output continues in another file. */
export async function openOutputFile(
  { io, notice, diskWait }: Pick<Context, 'io' | 'notice' | 'diskWait'>,
  out: string,
  {
    rule,
    timeField,
    ...known
  }: { readonly rule: RotateRule | undefined; readonly timeField: string } & Pick<
    FollowedOptions,
    'from' | 'certify'
  >,
  moved: () => void,
): Promise<OutputFile> {
  const file = await openFollowed(out, {
    mono: io.clock.mono,
    now: io.clock.now,
    rotate: rule && { rule, timeField },
    ...known,
    warn: notice,
    retry: (step) => diskWait.retry(out, step),
    moved(how, name) {
      if (how === 'finished') notice(`finished ${basename(name ?? out)}: continuing in ${out}`);
      else notice(`${out} was ${how}: continuing in a new file`);
      moved();
    },
  });
  const ended = new AbortController();
  const stopListening = io.onReopen(() => void file.check());
  const watch = everySecond(io.clock, ended.signal, file.check);
  return {
    sink: file.sink,
    place: file.place,
    waiting: file.waiting,
    saw: file.saw,
    async end() {
      stopListening();
      ended.abort();
      await watch;
    },
  };
}
