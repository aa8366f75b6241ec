import { unitsText } from '../../base/units.ts';
import type { Context } from '../context.ts';
import type { OpenRun } from './permission.ts';

/** The limit of a run, for its start line; undefined without a limit. */
export function limitText({
  permission,
  settings,
}: Pick<Context, 'permission' | 'settings'>): string | undefined {
  const { limit } = permission;
  if (limit === undefined) return undefined;
  const raise = settings.maxCu === undefined ? ' (raise it with --max-cu)' : '';
  return `spending limit ${unitsText(limit)}${raise}`;
}

/** The start line of a run with its limit. */
export function withLimit(line: string, context: Pick<Context, 'permission' | 'settings'>): string {
  const limit = limitText(context);
  return limit === undefined ? line : `${line}; ${limit}`;
}

/**
 * Starts a list without a known end; `command` continues it. A list with --limit stops by itself if nothing
 * matches.
 */
export function beginList(context: Context, rows: number | undefined, command: () => string): void {
  const run: OpenRun = {
    stopped: (spent) => ({
      message: `stopped after ${spent}; there are more results`,
      hint: `continue with: ${command()}`,
    }),
  };
  if (rows === undefined) beginOpen(context, run);
  else context.permission.begin(run);
}

/** Starts a run without a known end, and reports its limit on a terminal. */
export function beginOpen(context: Context, run: OpenRun): void {
  context.permission.begin(run);
  const limit = limitText(context);
  if (limit !== undefined && context.io.stderr.isTTY === true) context.notice(`no known end: ${limit}`);
}
