import { unitsText } from '../../base/units.ts';
import { NUMBERS_AGE_MS } from '../../core/answer-ages.ts';
import { createAllowance } from '../../core/pnl/allowance.ts';
import { createSavedNumbers, type SavedNumbers } from '../../core/pnl/cached-numbers.ts';
import type { PnlResult } from '../../core/pnl/request-batch.ts';
import { type BatchLog, createPnlRun, type PnlRun } from '../../core/pnl/run-batches.ts';
import type { Targets } from '../../core/pnl/targets.ts';
import { namesText } from '../../output/terminal/names-text.ts';
import type { Context } from '../context.ts';
import { openAnswers } from '../lookup/open-lookup.ts';
import { noticeText } from '../output/client-notice-text.ts';
import { approveNumbers, handlesText, planNumbers } from '../spend/preflight.ts';

/** The answers that a run need not request: those in the journal of an export, or in the cache. */
export interface Held {
  todo(): readonly number[];
  /** Looks for answers in the cache. Is called again when more handles are known. */
  fill(): Promise<void>;
  /** Takes the results of lookups that found no handle. Returns those that are not final. */
  keep(results: readonly PnlResult[]): Promise<readonly PnlResult[]>;
}

/** Asks for confirmation, and looks up the wallets and ids. `alone` requests one handle without a batch and without `me`. */
export async function beginRun(
  context: Context,
  targets: Targets,
  held: Held,
  saved: SavedNumbers | undefined,
  { log, alone = false }: { readonly log?: BatchLog; readonly alone?: boolean },
) {
  const { io, settings, signal, notice } = context;
  const lookups = await targets.lookups(held.todo());
  await held.fill();
  let todo = held.todo();
  if (todo.length === 0) return { run: undefined, todo, unfound: [] };
  const client = alone ? undefined : await context.client();
  const allowance =
    client && createAllowance(client, io.clock, settings.maxCu, (event) => notice(noticeText(event)));
  await approveNumbers(context, [...lookups, ...planNumbers(targets, todo)], todo.length, allowance);
  let unfound: readonly PnlResult[] = [];
  if (targets.isMixed) {
    unfound = await held.keep(await targets.resolve(todo, signal));
    // The numbers of some of these users may be cached.
    await held.fill();
    const failed = new Set(unfound.map(({ position }) => position));
    todo = held.todo().filter((position) => !failed.has(position));
  }
  if (!client || !allowance) return { run: undefined, todo, unfound };
  const run = createPnlRun({ client, clock: io.clock, allowance, targets, todo, log, saved, signal });
  return { run, todo, unfound };
}

export function reportLost({ notice }: Context, { lost }: PnlRun, { texts }: Targets): void {
  for (const { positions, cuAtMost } of lost) {
    const names = positions.map((position) => texts[position] ?? '');
    const cost = `which may have cost up to ${unitsText(cuAtMost)}`;
    notice(`lost the answers for ${handlesText(names.length)} (${cost}): ${namesText(names)}`);
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
  context.answersAreCached();
  // The setting is meant for records of users, which stay valid for longer than numbers.
  const maxAgeMs = maxAge ?? Math.min(context.settings.maxAge, NUMBERS_AGE_MS);
  return createSavedNumbers(cache, context.io.clock.now, maxAgeMs);
}

/** The answers stay on disk, so each position needs only one byte of memory. */
export function cachedPositions(saved: SavedNumbers | undefined, { texts, handleAt }: Targets) {
  const cached = new Uint8Array(texts.length);
  return {
    has: (position: number) => cached[position] === 1,
    /** Looks for the answers of these positions. Returns the positions without one. */
    async without(positions: readonly number[]): Promise<readonly number[]> {
      if (!saved) return positions;
      const rest: number[] = [];
      for (const position of positions) {
        const handle = handleAt(position);
        if (handle !== undefined && (await saved.find(handle))) cached[position] = 1;
        else rest.push(position);
      }
      return rest;
    },
  };
}

export const everyPosition = (list: readonly unknown[]): number[] => list.map((_, at) => at);
