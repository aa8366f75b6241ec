import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import type { TailStatus } from '../../tail/notice.ts';
import type { Context } from '../context.ts';
import { commandWith } from '../spend/continue-command.ts';
import { moreText } from '../spend/permission.ts';

const OWN_LIMITS: ReadonlySet<string> = new Set(['CEILING', 'CONFIRM_ABOVE']);
/** The latest time that a Date can represent. */
const LATEST = 8.64e15;

/** The failure of a tail that ended at its spending limit, with the command that continues it. */
export function atLimit(
  error: unknown,
  { io, globals, settings }: Pick<Context, 'io' | 'globals' | 'settings'>,
  checkpoint: string | undefined,
  { spent, provenTo }: Pick<TailStatus, 'spent' | 'provenTo'>,
): unknown {
  // Failures of budgets already say how to continue.
  if (!(error instanceof Failure) || !OWN_LIMITS.has(error.code)) return error;
  const { maxCu } = settings;
  const file = checkpoint ?? globals.out;
  const at = provenTo?.at;
  const since = typeof at === 'number' && Math.abs(at) <= LATEST ? new Date(at).toISOString() : undefined;
  const resume =
    file === undefined && since !== undefined
      ? `continue with: ${commandWith(io.argv, { '--backfill': undefined, '--since': since })}`
      : `run the same command again${file === undefined ? '' : `: it continues from ${file}`}`;
  return new Failure('limit', `${error.message}; this run has cost up to ${unitsText(spent.most)}`, {
    code: maxCu === undefined && error.code === 'CEILING' ? 'CONFIRM_ABOVE' : error.code,
    hint: `${moreText(maxCu)}; ${resume}`,
  });
}
