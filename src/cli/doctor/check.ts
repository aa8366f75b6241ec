import { Failure } from '../../base/failure.ts';
import type { CheckRecord } from '../../contract/records/tool.ts';
import { type ExitCode, exitOf } from '../exit.ts';

/**
 * The result of a check: the record to print, and the exit code of the run if this is the first failed check.
 */
export interface Check {
  readonly record: CheckRecord;
  readonly exit: ExitCode;
}

const made =
  (verdict: CheckRecord['verdict']) =>
  (check: string, detail: string, next?: string): Check => ({
    record: { check, verdict, detail, ...(next !== undefined && { next }) },
    exit: 0,
  });

export const passed = made('ok');
export const warn = made('warn');
export const skip = made('skip');

/** The result of a failed check, made from the failure that a command would throw. */
export const failedCheck = (check: string, { kind, message, hint }: Failure): Check => ({
  record: {
    check,
    verdict: 'fail',
    detail: message,
    ...(hint && { next: withoutDoctor(hint) }),
  },
  exit: exitOf[kind],
});

/** Removes the advice to run trdr doctor, which is already running. */
const withoutDoctor = (hint: string): string =>
  hint.replace(/: trdr doctor$/, '').replace(/^run "trdr doctor" to see /, 'see below ');

/**
 * The exit code of a run is that of the first failed check, because later failures may be consequences of the
 * first.
 */
export const exitOfAll = (checks: readonly Check[]): ExitCode =>
  checks.find(({ record }) => record.verdict === 'fail')?.exit ?? 0;

/** Returns the result of `work`, or the `Failure` that it threw. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
