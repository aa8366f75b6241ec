import { unitsText } from '../../base/units.ts';
import type { Context } from '../context.ts';
import type { OpenRun } from './permission.ts';

/** Describes the limit of a run, for its first line; undefined if there is no limit. */
function limitText({ permission, settings }: Pick<Context, 'permission' | 'settings'>): string | undefined {
  const { limit } = permission;
  if (limit === undefined) return undefined;
  const raise = settings.maxCu === undefined ? ' (raise it with --max-cu)' : '';
  return `spending limit ${unitsText(limit)}${raise}`;
}

/** Adds the spending limit to the first line that a run prints. */
export function withLimit(line: string, context: Pick<Context, 'permission' | 'settings'>): string {
  const limit = limitText(context);
  return limit === undefined ? line : `${line}; ${limit}`;
}

/**
 * Starts a list whose length is not known. With --limit, the spending limit is not reported, because the list stops
 * by itself.
 */
export function beginList(context: Context, rows: number | undefined): void {
  const run: OpenRun = {
    stopped: (spent) => ({ message: `stopped after ${spent}; there are more results` }),
  };
  if (rows === undefined) beginOpen(context, run);
  else context.permission.begin(run);
}

/** Starts a run whose total cost is not known in advance. On a terminal, reports its limit. */
export function beginOpen(context: Context, run: OpenRun): void {
  context.permission.begin(run);
  const limit = limitText(context);
  if (limit !== undefined && context.io.stderr.isTTY === true)
    context.notice(`total cost not known in advance; ${limit}`);
}
