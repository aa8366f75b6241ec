import type { Failure } from '../../base/failure.ts';
import type { CheckRecord } from '../../contract/records/tool.ts';
import { type ExitCode, exitOf } from '../exit.ts';

/** A completed check: the record to print, and the exit code if it is the first one that fails. */
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

/** A check that failed in the same way as a command would. */
export const failedCheck = (check: string, { kind, message, hint }: Failure): Check => ({
  // The hint of some failures is to run trdr doctor, which would be useless here.
  record: {
    check,
    verdict: 'fail',
    detail: message,
    ...(hint && { next: hint.replace(/: trdr doctor$/, '') }),
  },
  exit: exitOf[kind],
});

/** The exit code of a run: that of the first failed check, because later failures follow from it. */
export const exitOfAll = (checks: readonly Check[]): ExitCode =>
  checks.find(({ record }) => record.verdict === 'fail')?.exit ?? 0;
