import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { oneOf, orSynonym } from '../../base/values.ts';
import { type WindowName, windowNames } from '../../contract/records/pnl.ts';
import { PnlRecord } from '../../contract/records/subject.ts';
import type { Subject } from '../../core/lookup/subject.ts';
import { Handles } from '../../core/pnl/handles.ts';
import { type Comparison, readEarlier } from '../../input/earlier/compare-pnl.ts';
import { windowsOf } from '../../input/earlier/pnl-export.ts';
import { type SubjectSource, subjectSource } from '../../input/subject-list.ts';
import { type SortKey, sortKeys } from '../../output/views/pnl-rows.ts';
import { cachedSubjectOptions, subjectArgument } from '../args/common.ts';
import { changeOptions, checkCompare, checkOneInput } from '../args/compare-flags.ts';
import { excluding, flag, list, value } from '../args/option.ts';
import { distinctSubjects, isOneWord } from '../args/subjects.ts';
import { file } from '../args/values.ts';
import { command } from '../command.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { reportFinished } from '../pnl/export-file.ts';
import { runExport } from '../pnl/export-job.ts';
import { formerNamesBy } from '../pnl/former-names.ts';
import { knownFields, type Shape } from '../pnl/present.ts';
import { openSavedNumbers } from '../pnl/saved-numbers.ts';
import { showExport } from '../pnl/show-export.ts';
import { streamJob } from '../pnl/stream-job.ts';
import type { Context } from '../run/context.ts';
import { destinationOf } from '../run/destination.ts';
import { runJob } from '../run/job.ts';
import { selectedFields, terminalWidth } from '../run/open-printer.ts';
import page from './pnl.md';

export const pnl = command({
  path: 'pnl',
  page,
  args: [subjectArgument('handle', 'handle, wallet or user id')],
  options: {
    window: list(
      '--window',
      'show only this window',
      orSynonym(oneOf(...windowNames), { '1d': '24h', '1w': '7d', '1m': '30d' }),
    ),
    sort: value(
      '--sort',
      'sort by this column of the first --window, best first',
      oneOf(...sortKeys),
    ),
    limit: excluding(
      value('--top, --limit', 'with --sort: show only the best N', integer({ min: 1 })),
      '--resume',
    ),
    reverse: flag('--reverse', 'with --sort: worst first'),
    resume: flag('--resume', 'with --out: resume an interrupted export, keep a finished one'),
    fresh: flag('--fresh', 'with --out: start over, and replace FILE without asking'),
    from: excluding(
      value('--from', 'read an earlier export instead of the service', file),
      '--resume',
      '--fresh',
      '--no-cache',
      '--max-age',
    ),
    compare: value('--compare', 'show what changed since this earlier export', file),
    ...changeOptions,
    ...cachedSubjectOptions('10m; 5m if not found'),
  },
  mostUsed: [
    'window',
    'sort',
    'limit',
    'compare',
    'changed',
    'file',
    'column',
    'from',
    'resume',
    'maxAge',
    'noCache',
  ],
  common: ['output', 'service', 'money'],
  calls: ['user.pnl', 'users.pnl', 'user.handle', 'user.id', 'launchpad.user', 'user.wallet', 'me'],
  record: () => PnlRecord,
  exits: [3, 10],
  parse: (words, flags) => {
    // With --from, no subjects are required: without any, the whole file is shown.
    const isWhole = flags.from !== undefined && words.length === 0 && flags.file === undefined;
    const source = isWhole ? undefined : subjectSource(words, flags, 'handle');
    const isListed = source !== undefined && (words.includes('-') || flags.file === '-');
    checkOneInput('handles', [flags.from === '-', flags.compare === '-', isListed]);
    checkCompare(flags, '--compare yesterday.csv');
    if (flags.sort === undefined && (flags.limit !== undefined || flags.reverse)) {
      throw usageError(
        `${flags.reverse ? '--reverse' : '--limit'} requires --sort`,
        'add --sort FIELD, such as --sort netUsd',
      );
    }
    return { ...flags, window: [...new Set(flags.window)], source };
  },
  async run(context, input) {
    const { source, as, from, noCache, maxAge } = input;
    const { settings, terminal } = context;
    const { out, dryRun } = settings.flags;
    const destination = destinationOf(out, input);
    const key = from === undefined ? await settings.key.get() : settings.key.present;
    const subjects = source ? await distinctSubjects(source, terminal, key, as) : [];
    const shape = await shapeOf(context, input, subjects);
    if (!dryRun) await selectedFields(settings.flags.fields, { fields: () => knownFields(shape) });
    if (from !== undefined) {
      if (!dryRun)
        return await showExport(context, from, subjects, input.window, shape, input.strict);
      terminal.notice(
        `with --from, ${from} is read and no calls are sent, so --dry-run has nothing to show`,
      );
      return 0;
    }
    const saved = await openSavedNumbers(context, noCache, maxAge);
    const users = await openCachedLookup(context, { noCache, maxAge });
    const task = { handles: new Handles(users.follow(subjects), users), saved };
    if (destination === undefined)
      return await runJob(await streamJob(context, task, shape, input.strict), context);
    const mayBeFinished = destination.start === 'resume';
    if (mayBeFinished && (await reportFinished(terminal, destination.out, subjects))) return 0;
    return await runExport(context, task, destination, shape, input.strict);
  },
});

/** What of the command line determines how numbers are shown. */
interface ShapeFlags {
  readonly source: SubjectSource | undefined;
  readonly window: readonly WindowName[];
  readonly sort: SortKey | undefined;
  readonly reverse: boolean;
  readonly limit: number | undefined;
  readonly compare: string | undefined;
  readonly changed: boolean;
  readonly only: readonly string[];
}

async function shapeOf(
  context: Context,
  flags: ShapeFlags,
  subjects: readonly Subject[],
): Promise<Shape> {
  const { source, window, sort, reverse, limit, compare } = flags;
  const { settings, terminal } = context;
  const { out, fields, dryRun } = settings.flags;
  const isComparison = compare !== undefined && !dryRun;
  const isSingle = source !== undefined && isOneWord(source) && subjects.length === 1;
  return {
    comparison: isComparison ? await comparisonOf(context, compare, flags) : undefined,
    format: settings.format,
    windows: window.length > 0 ? window : windowNames,
    sort,
    sortWindow: window[0] ?? 'all',
    reverse,
    limit,
    fields,
    single: compare === undefined && isSingle,
    handles: subjects.length,
    width: out === undefined ? terminalWidth(terminal.io) : FILE_WIDTH,
  };
}

/** A file has no width, so a table in one has that of most terminals. */
const FILE_WIDTH = 80;

async function comparisonOf(
  context: Context,
  path: string,
  { window, changed, only }: ShapeFlags,
): Promise<Comparison> {
  const { settings, terminal } = context;
  const earlier = await readEarlier(path, terminal.io, terminal.notice);
  const there = windowsOf(earlier, path, window);
  const byDefault = there.includes('7d') ? '7d' : there[0];
  const first = window[0] ?? byDefault ?? '7d';
  // Without --window, a table has the differences of one window.
  const isTable = settings.format === 'table' || settings.format === 'markdown';
  return {
    earlier,
    formerNames: await formerNamesBy(context),
    window: first,
    windows: isTable && window.length === 0 ? [first] : there,
    changed,
    only,
    notice: terminal.tell,
  };
}
