import type { Clock } from '../../src/base/clock.ts';
import { readStartCheckpoint } from '../../src/tail/exec/acknowledged.ts';
import { createAcknowledgements } from '../../src/tail/exec/acknowledgements.ts';
import type { Batch, CommandEnd } from '../../src/tail/exec/batch.ts';
import { createDelivery } from '../../src/tail/exec/deliver.ts';
import { createHandoff } from '../../src/tail/exec/handoff.ts';
import type { TailSink } from '../../src/tail/ports.ts';
import type { TailRow } from '../../src/tail/row.ts';
import type { StartPoint } from '../../src/tail/walk/bounds.ts';
import type { Disk } from './disk.ts';
import type { Rng } from './rng.ts';
import type { ExecSchedule } from './schedule.ts';
import type { Process } from './world.ts';

interface Parts {
  readonly exec: ExecSchedule;
  readonly disk: Disk;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly process: Process;
  readonly since: number | null;
  readonly effect: <T>(ms: number, act: () => T) => Promise<T>;
  readonly slowness: () => number;
}

/**
 * The handoff of a simulated process. The batches that the command acknowledged, and the dead letters, are
 * lines on the simulated disk.
 */
export function createExecOutput({ exec, disk, clock, rng, process, since, effect, slowness }: Parts) {
  const log = createAcknowledgements(
    {
      text: disk.checkpoint,
      replace(text) {
        disk.checkpoint = text;
      },
      append(line) {
        if (exec.flaw === 'forgets') return true;
        if (disk.checkpoint === undefined) return false;
        disk.checkpoint += line;
        return true;
      },
    },
    { feed: 'sim', since },
  );
  const record = (batch: Batch) => {
    process.writes.push(batch.rows.map(({ id }) => ({ id, paged: false })));
    for (const { line } of batch.rows) disk.write(Buffer.from(line).toString());
    disk.flush();
  };
  const run = (batch: Batch): Promise<CommandEnd> => {
    // In the calm phase at the end, the command works, so everything must be handed over.
    const calm = clock.mono() >= exec.untilMs;
    const fails = !calm && rng.chance(exec.fails);
    const works = !fails || rng.chance(0.5);
    const ms = calm ? 1 : rng.between(0, exec.slowMs) + slowness();
    return effect(ms, () => {
      if (works) record(batch);
      if (works && fails) for (const { id } of batch.rows) process.failed.add(id);
      return fails ? { ok: false, why: 'exit code 1', code: 1 } : { ok: true };
    });
  };
  const deliver = createDelivery(
    { clock, random: rng.next, run, deadLetter: record, notify() {} },
    { tries: exec.tries, forgetful: false },
  );
  const handoff = createHandoff(
    {
      clock,
      encode: (row) => Buffer.from(`${JSON.stringify(row.record)}\n`),
      deliver(batch, stop) {
        if (exec.flaw !== 'no start') log.begin(batch);
        return deliver(batch, stop);
      },
      acknowledged(batch, end) {
        log.add(batch, end);
        process.savedWrites = process.writes.length;
      },
    },
    {
      ...{ batch: exec.batch, lingerMs: exec.lingerMs, forgetful: false },
      stop: new AbortController().signal,
    },
  );
  let covered = 0;
  const sink: TailSink = {
    write: handoff.write,
    end: handoff.end,
    async flush() {
      const { written } = handoff;
      if (exec.flaw === 'early') {
        covered = written;
        return true;
      }
      const whole = await handoff.flush();
      if (whole) covered = written;
      return whole;
    },
  };
  const save = (text: string) => effect(rng.between(1, 10), () => log.save(text, covered));
  return { sink, save, isNew: ({ id }: TailRow) => !log.before.has(id) };
}

/** Where a process starts if there are acknowledged batches but no checkpoint. */
export function startedFrom(disk: Disk): StartPoint | undefined {
  const since = disk.checkpoint && readStartCheckpoint(disk.checkpoint, 'sim')?.since;
  return typeof since === 'number' ? { kind: 'since', at: since } : undefined;
}
