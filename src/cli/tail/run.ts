import { usage } from '../../contract/failure.ts';
import type { Client } from '../../core/ports.ts';
import { createTail, type TailOptions } from '../../feed/engine.ts';
import type { StartPoint } from '../../feed/flow.ts';
import type { Connect, PageSource } from '../../feed/ports.ts';
import type { Row } from '../../feed/row.ts';
import { createStatusLine } from '../../output/status.ts';
import { wantsUnicode } from '../../output/style.ts';
import type { View } from '../../output/view.ts';
import { writeAtomic } from '../../state/files.ts';
import { holdLock } from '../../state/lock.ts';
import type { Context } from '../context.ts';
import { type Instant, instantAt } from '../values.ts';
import { outletOf } from './outlet.ts';
import { readResume } from './resume.ts';
import { keyFacts } from './source.ts';
import { statusText, tailText } from './words.ts';

/** What every tail is told by its flags. */
export interface TailFlags {
  readonly lag: number;
  readonly backfill: number | undefined;
  readonly since: Instant | undefined;
  readonly count: number | undefined;
  readonly duration: number | undefined;
  readonly checkpoint: string | undefined;
}

/** One tail: where its rows come from, and what is wanted of them. */
export interface TailPlan {
  readonly flags: TailFlags;
  readonly view: View<Row['record']>;
  readonly timeField: string;
  readonly source: PageSource;
  readonly connect?: Connect | undefined;
  readonly options: Omit<TailOptions, 'start' | 'lagMs' | 'count' | 'durationMs' | 'on'>;
}

const STATUS_MS = 1_000;

/** Runs a tail to its end: lock, start point, output, words on stderr. */
export async function runTail(context: Context, client: Client, plan: TailPlan): Promise<void> {
  const { io, globals, signal } = context;
  const { flags } = plan;
  checkOut(context, plan);
  const locks = [globals.out, flags.checkpoint]
    .filter((path) => path !== undefined)
    .map((path) => holdLock(`${path}.lock`, path));
  const status = createStatusLine({
    stream: io.stderr,
    enabled: io.stderr.isTTY === true && io.stdout.isTTY === true && !globals.quiet,
    unicode: wantsUnicode(io.env, io.platform),
  });
  const ended = new AbortController();
  try {
    const resume = await readResume({
      out: globals.out,
      checkpoint: flags.checkpoint,
      feed: plan.options.feed,
      timeField: plan.timeField,
    });
    const records = await context.records(plan.view);
    const save = flags.checkpoint;
    const tail = createTail(
      {
        clock: io.clock,
        random: io.random,
        source: plan.source,
        connect: plan.connect,
        sink: outletOf(records, status.hide),
        key: keyFacts(client),
        save: save === undefined ? undefined : async (text) => writeAtomic(save, text),
      },
      {
        ...plan.options,
        start: resume ?? startOf(flags, io.clock.now()),
        lagMs: flags.lag,
        count: flags.count,
        durationMs: flags.duration,
        fileIsCheckpoint: globals.out !== undefined && save === undefined,
        on(notice) {
          const text = tailText(notice);
          if (text === undefined) return;
          status.hide();
          context.say(text);
        },
      },
    );
    const watch = watchStatus(context, () => status.show(statusText(tail.status())), ended.signal);
    try {
      await tail.run(signal);
    } finally {
      ended.abort();
      await watch;
      status.hide();
      if (!records.closed.aborted) await records.end();
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

function startOf({ backfill, since }: TailFlags, now: number): StartPoint {
  if (since !== undefined) return { kind: 'since', at: instantAt(since, now) };
  return backfill === undefined ? { kind: 'now' } : { kind: 'backfill', rows: backfill };
}

/** A file that a tail goes on from has to say where it ends: its lines are records with id and post time. */
function checkOut({ globals, format }: Context, { timeField }: TailPlan): void {
  if (globals.out === undefined) return;
  if (format !== 'ndjson') {
    throw usage(
      `--out of a tail is NDJSON, from whose end it goes on: ${format} can't say where it stopped`,
      'name it .ndjson',
    );
  }
  const fields = globals.fields?.split(',').map((name) => name.trim());
  if (fields && !['id', timeField].every((name) => fields.includes(name))) {
    throw usage(`--out needs the fields id and ${timeField} to go on from its end`, 'add them to --fields');
  }
}

async function watchStatus({ io }: Context, show: () => void, until: AbortSignal): Promise<void> {
  if (io.stderr.isTTY !== true || io.stdout.isTTY !== true) return;
  try {
    for (;;) {
      await io.clock.sleep(STATUS_MS, until);
      show();
    }
  } catch (error) {
    if (!until.aborted) throw error;
  }
}
