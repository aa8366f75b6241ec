import type { Clock } from '../../src/base/clock.ts';
import { CommandWriter } from '../../src/tail/exec/command-writer.ts';
import { type Batch, type CommandEnd, Handoff } from '../../src/tail/exec/delivery.ts';
import type { Writer } from '../../src/tail/ports.ts';
import type { Position } from '../../src/tail/position.ts';
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
  readonly effect: <T>(ms: number, act: () => T) => Promise<T>;
  readonly slowness: () => number;
  /** Called with each position that was saved. */
  readonly saved: (position: Position) => void;
  readonly problem: (text: string) => void;
}

/**
 * The handoff of a simulated process. The batches that the command acknowledged, and the dead letters, are
 * lines on the simulated disk.
 */
export function createExecOutput({ exec, disk, clock, rng, process, effect, ...parts }: Parts) {
  /** The batch that was handed over but not acknowledged; no other batch may come before it. */
  let open: string | undefined;
  const record = (batch: Batch) => {
    process.writes.push(batch.rows.map(({ id }) => ({ id, paged: false })));
    for (const { id, at } of batch.rows) disk.write({ id, at });
    disk.flush();
  };
  const run = (batch: Batch): Promise<CommandEnd> => {
    const ids = batch.rows.map(({ id }) => id).join();
    if (open !== undefined && open !== ids) parts.problem(`${ids} was handed over before ${open}`);
    open = ids;
    // In the calm phase at the end, the command works, so everything must be handed over.
    const calm = clock.mono() >= exec.untilMs;
    const fails = !calm && rng.chance(exec.fails);
    const works = !fails || rng.chance(0.5);
    const ms = calm ? 1 : rng.between(0, exec.slowMs) + parts.slowness();
    return effect(ms, () => {
      if (works) record(batch);
      if (works && fails) for (const { id } of batch.rows) process.failed.add(id);
      const isTrusted = !fails || exec.flaw === 'skips';
      if (isTrusted) open = undefined;
      return isTrusted ? { ok: true } : { ok: false, why: 'exit code 1', code: 1 };
    });
  };
  const deadLetter = (batch: Batch) => {
    open = undefined;
    record(batch);
  };
  const courier = new Handoff({
    ...{ clock, random: rng.next, run, deadLetter, notify() {} },
    ...{ tries: exec.tries, forgetful: false },
  });
  /** The writes of the command after each acknowledged batch. */
  const writesAt: { readonly rows: number; readonly writes: number }[] = [];
  const handoff = new CommandWriter({
    clock,
    encode: (row) => Buffer.from(`${JSON.stringify(row.record)}\n`),
    async deliver(batch, stop) {
      const outcome = await courier.deliver(batch, stop);
      if (outcome !== 'left')
        writesAt.push({
          rows: (writesAt.at(-1)?.rows ?? 0) + batch.rows.length,
          writes: process.writes.length,
        });
      return outcome;
    },
    ...{ batch: exec.batch, lingerMs: exec.lingerMs, forgetful: false },
    stop: new AbortController().signal,
  });
  let covered = 0;
  const writer: Writer = {
    write: (rows) => handoff.write(rows),
    end: () => handoff.end(),
    flush: () => handoff.flush(),
    delivered(onChange) {
      const count = handoff.delivered(onChange);
      return () => {
        const rows = count();
        covered = writesAt.findLast((at) => at.rows <= rows)?.writes ?? 0;
        return exec.flaw === 'early' ? handoff.written : rows;
      };
    },
  };
  const save = async (position: Position) => {
    const until = covered;
    if (exec.flaw === 'no start' && process.writes.length === 0) return;
    const ids = exec.flaw === 'forgets' ? [] : position.ids;
    await effect(rng.between(1, 10), () => {
      disk.checkpoint = { ...position, ids };
      parts.saved(position);
      process.savedWrites = until;
    });
  };
  return { writer, save };
}
