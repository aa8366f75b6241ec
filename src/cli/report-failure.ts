import { Failure, printedFields } from '../base/failure.ts';
import { errno, fileFailure } from '../base/files.ts';
import { trimText } from '../base/trim-text.ts';
import { withoutKey, withoutKeys } from '../core/client/mask-key.ts';
import { failureJson, renderFailure } from '../output/error-text.ts';
import { journalPrefix } from '../output/notices.ts';
import { safeLine, safeText } from '../output/terminal/safe-text.ts';
import { loadStyle, wantsColor, wantsUnicode } from '../output/terminal/style.ts';
import { exitOf } from './exit.ts';
import type { Io, RunEnd } from './io.ts';
import type { RunSettings } from './settings/settings.ts';

type ReportSettings = Pick<RunSettings, 'color' | 'output' | 'key' | 'utc'>;

/**
 * Reports a failure on stderr. Searches the words for the flags that it needs, because the line may
 * be invalid.
 */
export async function reportFailure(
  io: Io,
  error: unknown,
  settings?: ReportSettings,
): Promise<RunEnd> {
  const reported = error instanceof Failure ? error : failureOfUnknown(error);
  const hide = (text: string) =>
    withoutKeys(
      withoutKey(withoutKey(text, trimText(io.env['TRDR_API_KEY'] ?? '')), settings?.key.present),
    );
  const printed = printedFields(reported);
  const { hint, approval } = printed;
  const failure = {
    ...printed,
    hint: hint && hide(hint),
    message: hide(reported.message),
    approval: approval && { ...approval, command: hide(approval.command) },
  };
  const exit = reported.code === 'BUG' ? 1 : exitOf[reported.kind];
  const logged = stated(io.argv, '--log-format') === 'json';
  const log = () => ({
    time: new Date(io.clock.now()).toISOString(),
    level: 'error',
    message: safeLine(failure.message),
  });
  const isTerminal = io.stderr.isTTY === true;
  const text = wantsJson(io, settings?.output, logged)
    ? failureJson(failure, exit, logged ? log() : undefined)
    : await renderFailure(failure, {
        style: await loadStyle(wantsColor(colorMode(io.argv), io.env, isTerminal, settings?.color)),
        unicode: wantsUnicode(io.env, io.platform),
        columns: io.stderr.columns || 80,
        utc: settings?.utc === true || !isTerminal,
      });
  const stack =
    beforeOperands(io.argv).includes('--debug') && error instanceof Error
      ? `${safeText(hide(error.stack ?? ''))}\n`
      : '';
  const prefix = io.isJournal ? journalPrefix('error') : '';
  const lines = `${text}${stack}`.replace(/^(?=.)/gm, prefix);
  await new Promise<void>((resolve) => io.stderr.write(lines, () => resolve()));
  return { exit, reason: reported.code };
}

function failureOfUnknown(error: unknown): Failure {
  // A file operation that fails unexpectedly is a problem of the system, not of trdr.
  if (error instanceof Error && errno(error) !== '') {
    if ('path' in error && typeof error.path === 'string')
      return fileFailure('access', error.path, error);
    if ('syscall' in error && error.syscall === 'uv_cwd')
      return fileFailure('access', 'the current folder', error, 'change to an existing folder');
  }
  return new Failure('local', error instanceof Error ? error.message : String(error), {
    code: 'BUG',
    hint: 'this is a bug in trdr: run the command again with --debug and report its output',
    cause: error,
  });
}

/** The words of a line that may be flags. */
const beforeOperands = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
};

/**
 * The value of a flag on a command line that may be invalid. A short name may follow those of flags
 * without a value, and its value may follow it: `-qotable`.
 */
const stated = (argv: readonly string[], long: string, short?: string): string | undefined => {
  const words = beforeOperands(argv);
  for (const [index, word] of words.entries()) {
    const [name = '', inline] = word.split('=', 2);
    if (name === long) return inline ?? words[index + 1];
    const [bundle, letter] = short === undefined ? [] : (/^-[hiqy]*([a-z])/.exec(word) ?? []);
    if (bundle !== undefined && letter === short)
      return word.slice(bundle.length) || words[index + 1];
  }
  return undefined;
};

function wantsJson(io: Io, setting: ReportSettings['output'], logged: boolean): boolean {
  if (logged) return true;
  if (io.stderr.isTTY === true) return false;
  if (beforeOperands(io.argv).includes('--json')) return true;
  const format =
    setting ?? stated(io.argv, '--output', 'o') ?? (io.env['TRDR_OUTPUT'] || undefined);
  return format === undefined ? io.stdout.isTTY !== true : format !== 'table';
}

export function colorMode(argv: readonly string[]): 'auto' | 'always' | 'never' {
  const mode = stated(argv, '--color');
  return mode === 'always' || mode === 'never' ? mode : 'auto';
}
