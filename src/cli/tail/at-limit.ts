import { Failure } from '../../base/failure.ts';
import { unitsText } from '../../base/units.ts';
import { BUDGET } from '../../contract/budget.ts';
import type { TailStatus } from '../../tail/notice.ts';
import type { Context } from '../context.ts';
import { commandWith } from '../spend/continue-command.ts';
import { moreText } from '../spend/permission.ts';
import { resumableOut } from './lock-files.ts';

/** The latest time that a Date can represent. */
const LATEST = 8.64e15;

/** The facts about the run that the failure depends on. */
interface LimitedRun {
  readonly io: Pick<Context['io'], 'argv'>;
  readonly globals: Pick<Context['globals'], 'out'>;
  readonly settings: Pick<Context['settings'], 'maxCu'>;
}

/** The failure of a tail that reached its spending limit or a budget, with the command that continues it. */
export function atLimit(
  error: unknown,
  { io, globals, settings }: LimitedRun,
  checkpoint: string | undefined,
  { spent, verified }: Pick<TailStatus, 'spent' | 'verified'>,
): unknown {
  const file = checkpoint ?? resumableOut(globals.out);
  if (error instanceof Failure && error.code === BUDGET) {
    const argv = waiting(io.argv);
    const from = file === undefined ? '' : ` from ${file}`;
    const command = (file === undefined ? continued(argv, verified) : undefined) ?? commandWith(argv);
    return pastBudget(error, `continue${from} with: ${command}`);
  }
  if (!(error instanceof Failure) || error.code !== 'CEILING') return error;
  const { maxCu } = settings;
  const command = file === undefined ? continued(io.argv, verified) : undefined;
  const resume =
    command === undefined
      ? `run the same command again${file === undefined ? '' : `: it continues from ${file}`}`
      : `continue with: ${command}`;
  return new Failure('limit', `${error.message}; this run has cost up to ${unitsText(spent.atMost)}`, {
    code: error.code,
    hint: `${moreText(maxCu)}; ${resume}`,
  });
}

/** The command that continues a tail from the time up to which the feed is verified; undefined if none is. */
function continued(argv: readonly string[], at: TailStatus['verified']): string | undefined {
  if (at === null || Math.abs(at) > LATEST) return undefined;
  return commandWith(argv, { '--backfill': undefined, '--since': new Date(at).toISOString() });
}

const waiting = (argv: readonly string[]) =>
  argv.includes('--wait-for-budget') ? argv : [...argv, '--wait-for-budget'];

/** The failure of a call that exceeds a budget, with the command that waits until the budget renews. */
const pastBudget = ({ message, retryAfter, hint }: Failure, resume: string) =>
  new Failure('limit', message, { code: BUDGET, retryAfter, hint: `${hint}; ${resume}` });
