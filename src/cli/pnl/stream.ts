import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import type { PnlRecord } from '../../contract/records/subject.ts';
import { createAllowance } from '../../core/pnl/allowance.ts';
import {
  createSavedNumbers,
  NUMBERS_AGE_MS,
  type SavedNumbers,
} from '../../core/pnl/cached-numbers.ts';
import { inOrder } from '../../core/pnl/merge-answers.ts';
import {
  answerFromJournal,
  isRejected,
  type PnlResult,
  requestOne,
} from '../../core/pnl/request-batch.ts';
import { createPnlRun, type PnlRun } from '../../core/pnl/run-batches.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import { namesText } from '../../output/notices.ts';
import type { ExportJournal } from '../../state/export-journal/journal.ts';
import type { ExitCode } from '../exit.ts';
import { openAnswers } from '../lookup/open-lookup.ts';
import { LookupTally, reportSkipped } from '../lookup/tally.ts';
import { noticeText } from '../output/client-notice-text.ts';
import { openProgress } from '../output/progress.ts';
import { approve } from '../run/approve.ts';
import type { Context } from '../run/context.ts';
import { handlesText, numbersCalls, numbersPlan } from './plan.ts';
import { isWhole, present, printer, type Shape } from './present.ts';

/** Prints one record per subject, cached or requested; without --sort, in the order of the subjects. */
export async function streamPnl(
  context: Context,
  targets: Targets,
  shape: Shape,
  strict: boolean,
  saved: SavedNumbers | undefined,
): Promise<ExitCode> {
  const { io, signal } = context.terminal;
  const { texts: subjects, handleAt } = targets;
  const tally = new LookupTally(strict);
  context.bill.outcome = tally;
  const { run, todo, unfound, isCached } = await beginRun(context, targets, saved);

  async function request(position: number): Promise<PnlResult> {
    const client = await context.service.client();
    const subject = subjects[position] ?? '';
    const handle = handleAt(position) ?? subject;
    const { record, failure } = await requestOne(client, handle, {
      signal,
      saved,
      now: io.clock.now,
    });
    return { position, record: { ...record, subject }, failure };
  }

  async function cachedAt(position: number): Promise<PnlResult | undefined> {
    if (!isCached(position)) return unfound.get(position);
    const record = await saved?.find(handleAt(position) ?? '', subjects[position]);
    // The answer is missing if it has expired in the meantime, or if another process has cleared the cache.
    return record ? { position, record } : await request(position);
  }

  async function* requested(): AsyncGenerator<readonly PnlResult[]> {
    if (run) yield* run.results();
    else for (const position of todo) yield [await request(position)];
  }

  async function* records(): AsyncGenerator<PnlRecord> {
    const progress = await openProgress(context);
    // Progress line and rows would overwrite each other on the same terminal.
    const apart =
      io.stdout.isTTY !== true || context.settings.flags.out !== undefined || isWhole(shape);
    const shown = apart && subjects.length > 1;
    try {
      for await (const { record, failure } of inOrder(subjects.length, cachedAt, requested())) {
        tally.add(record.found === null ? { found: null, failure } : record);
        if (shown) progress.show('requesting', tally.total, subjects.length);
        yield record;
      }
    } finally {
      progress.stop();
    }
  }

  try {
    await present(records(), shape, printer(context));
    if (run?.lost[0]) throw run.lost[0].failure;
  } catch (error) {
    if (run && error instanceof Failure) {
      reportLost(context, run, targets);
      const left = run.left().map((position) => subjects[position] ?? '');
      reportSkipped(context.terminal, left, handlesText(left.length));
    }
    throw error;
  }
  return tally.exit();
}

/** The maximum number of cached answers in one write to the journal. */
const CACHED_ROWS = 100;

/** Passes the cached numbers of these handles to `keep`, in parts. Returns the positions without numbers. */
export async function withoutCached(
  saved: SavedNumbers | undefined,
  { texts, handleAt }: Targets,
  positions: readonly number[],
  keep: (results: readonly PnlResult[]) => void | Promise<void> = () => {},
): Promise<readonly number[]> {
  if (!saved) return positions;
  const rest: number[] = [];
  const found: PnlResult[] = [];
  for (const position of positions) {
    const handle = handleAt(position);
    const record = handle === undefined ? undefined : await saved.find(handle, texts[position]);
    if (record) found.push({ position, record });
    else rest.push(position);
    if (found.length >= CACHED_ROWS) await keep(found.splice(0));
  }
  if (found.length > 0) await keep(found);
  return rest;
}

/** Without a journal, a single handle needs no run: it is requested without a batch and without `me`. */
export async function beginRun(
  context: Context,
  targets: Targets,
  saved: SavedNumbers | undefined,
  journal?: ExportJournal,
) {
  const { io, signal } = context.terminal;
  const { settings } = context;
  const { texts } = targets;
  // The answers stay on disk, so each position needs only one byte of memory.
  const cached = new Uint8Array(texts.length);
  /** Lookups that found no handle, without the final ones, which are in the journal if there is one. */
  const unfound = new Map<number, PnlResult>();
  const keep = async (results: readonly PnlResult[]) => {
    if (journal)
      await journal.found(results.map(({ position, record }) => ({ position, value: record })));
    else for (const { position } of results) cached[position] = 1;
  };
  let todo: readonly number[] = journal?.free() ?? [...texts.keys()];
  /** Looks for answers in the cache. Is called again when more handles are known. */
  const fill = async () => {
    const read = journal ? await readSavedAnswers(journal, targets) : 0;
    if (read > 0)
      context.terminal.notice(
        `recovered ${handlesText(read)} from saved answers that an earlier run could not parse`,
      );
    todo = await withoutCached(saved, targets, journal?.free() ?? todo, keep);
    todo = todo.filter((position) => !unfound.has(position));
  };
  const lookups = await targets.lookups(todo);
  await fill();
  const begun = { isCached: (position: number) => cached[position] === 1, unfound };
  if (todo.length === 0) return { ...begun, run: undefined, todo };
  const client = journal || texts.length > 1 ? await context.service.client() : undefined;
  const allowance =
    client &&
    createAllowance(client, io.clock, settings.maxCu, (event) =>
      context.terminal.notice(noticeText(event)),
    );
  const calls = [...lookups, ...numbersCalls(targets, todo)];
  await approve(numbersPlan(context, calls, todo.length, allowance), context);
  if (targets.isMixed) {
    const results = await targets.resolve(todo, signal);
    const isKept = ({ failure }: PnlResult) =>
      journal && (failure === undefined || isRejected(failure));
    for (const result of results) if (!isKept(result)) unfound.set(result.position, result);
    if (journal) await keep(results.filter(isKept));
    await fill();
  }
  const run =
    client &&
    allowance &&
    createPnlRun({
      client,
      clock: io.clock,
      allowance,
      targets,
      todo,
      log: journal,
      saved,
      signal,
    });
  return { ...begun, run, todo };
}

/** A newer version may parse what an earlier one could not. Returns the number of handles that need not be paid for again. */
async function readSavedAnswers(
  journal: ExportJournal,
  { texts, handleAt }: Targets,
): Promise<number> {
  let handles = 0;
  for (const { positions, answer } of journal.unread()) {
    const subjectAt = (position = 0) => texts[position] ?? '';
    const asked = positions.map((position) => handleAt(position) ?? subjectAt(position));
    const rows = answerFromJournal(asked, answer).flatMap(({ record, failure }, place) =>
      failure
        ? []
        : [
            {
              position: positions[place] ?? 0,
              value: { ...record, subject: subjectAt(positions[place]) },
            },
          ],
    );
    await journal.found(rows);
    handles += rows.length;
  }
  return handles;
}

export function reportLost({ terminal }: Context, { lost }: PnlRun, { texts }: Targets): void {
  for (const { positions, cuAtMost } of lost) {
    const names = positions.map((position) => texts[position] ?? '');
    const cost = `which may have cost up to ${unitsText(cuAtMost)}`;
    terminal.notice(
      `lost the answers for ${handlesText(names.length)} (${cost}): ${namesText(names)}`,
    );
  }
}

/** The cached numbers for the present base URL and key; undefined if the run does not use the cache. */
export async function openSavedNumbers(
  context: Context,
  noCache: boolean,
  maxAge: number | undefined,
): Promise<SavedNumbers | undefined> {
  const cache = noCache ? undefined : await openAnswers(context);
  if (!cache) return undefined;
  context.bill.isCached = context.settings.folders.cache !== undefined;
  // The setting is meant for records of users, which stay valid for longer than numbers.
  const maxAgeMs = maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS);
  return createSavedNumbers(cache, context.terminal.io.clock.now, maxAgeMs);
}
