import { integer } from '../../base/amounts.ts';
import { usageError } from '../../base/failure.ts';
import { statsOf } from '../../base/files.ts';
import { oneOf } from '../../base/values.ts';
import { windowNames } from '../../contract/records/pnl.ts';
import { PnlRecord } from '../../contract/records/subject.ts';
import { createTargets } from '../../core/pnl/targets.ts';
import { sortKeys } from '../../output/views/pnl-rows.ts';
import { cachedSubjectOptions, type OutputFormat, subjectArgument } from '../args/common.ts';
import { subjectSource } from '../args/input.ts';
import { changeOptions, checkCompare } from '../args/list-flags.ts';
import { excluding, flag, list, value } from '../args/option.ts';
import { distinctSubjects, isOneWord } from '../args/subjects.ts';
import { file } from '../args/values.ts';
import { command } from '../command.ts';
import { openCachedLookup } from '../lookup/open-lookup.ts';
import { selectedFields, terminalWidth } from '../output/output.ts';
import { readEarlier } from '../pnl/compare.ts';
import { exportPnl, isFinished, notExported } from '../pnl/export.ts';
import { showExport } from '../pnl/from/show-export.ts';
import { numbersCalls } from '../pnl/plan.ts';
import { knownFields, type Shape } from '../pnl/present.ts';
import { openSavedNumbers, streamPnl, withoutCached } from '../pnl/stream.ts';
import { isDryRun } from '../run/approve.ts';
import { notSent } from '../run/plan.ts';
import page from './pnl.md';

export const pnl = command({
  path: 'pnl',
  page,
  args: [subjectArgument('handle', 'handle, wallet or user id')],
  options: {
    window: list('--window', 'show only this window', oneOf(...windowNames)),
    sort: value(
      '--sort',
      'sort by this column of the first --window, best first',
      oneOf(...sortKeys),
    ),
    limit: excluding(
      value('--top, --limit', 'with --sort: show only the best N', integer({ min: 1 })),
      '--resume',
    ),
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
  common: ['output', 'service', 'money'],
  calls: ['user.pnl', 'users.pnl', 'user.wallet', 'user.id', 'me'],
  record: () => PnlRecord,
  exits: [0, 2, 3, 4, 5, 6, 7, 9, 10, 11],
  parse: (words, given) => {
    // With --from, no subjects are required: without any, the whole file is shown.
    const isWhole = given.from !== undefined && words.length === 0 && given.file === undefined;
    const source = isWhole ? undefined : subjectSource(words, given, 'handle');
    const isListed = source !== undefined && (words.includes('-') || given.file === '-');
    if ([given.from === '-', given.compare === '-', isListed].filter(Boolean).length > 1) {
      throw usageError(
        'only one of the handles, --from and --compare can be read from stdin',
        'save the others to files',
      );
    }
    checkCompare(given, '--compare yesterday.csv');
    if (given.limit !== undefined && given.sort === undefined) {
      throw usageError(
        '--limit requires --sort',
        'add --sort FIELD to show the best, such as --sort netUsd',
      );
    }
    return { ...given, window: [...new Set(given.window)], source };
  },
  async run(
    context,
    { source, as, window, sort, limit, resume, fresh, from, strict, maxAge, noCache, ...given },
  ) {
    const { out, dryRun, fields } = context.settings.flags;
    const needsFile = resume ? '--resume' : fresh ? '--fresh' : undefined;
    if (needsFile && out === undefined) {
      throw usageError(`${needsFile} requires --out`, 'add the file of the export: --out FILE');
    }
    const { settings } = context;
    const key = from === undefined ? await settings.key.get() : settings.key.known;
    const { texts: subjects, others } = source
      ? await distinctSubjects(source, context.terminal, key, as)
      : { texts: [], others: new Map() };
    const windows = window.length > 0 ? window : windowNames;
    const { compare, changed, only } = given;
    const shape: Shape = {
      comparison:
        compare === undefined || dryRun
          ? undefined
          : {
              ...(await readEarlier(compare, context.terminal.io)),
              window: window[0] ?? '7d',
              windows: isTable(context.settings.format) ? [window[0] ?? '7d'] : windows,
              changed,
              only,
              notice: (text) =>
                context.terminal.io.stderr.isTTY === true && context.terminal.notice(text),
            },
      format: context.settings.format,
      windows,
      sort,
      sortWindow: window[0] ?? 'all',
      limit,
      fields,
      single:
        compare === undefined && subjects.length === 1 && source !== undefined && isOneWord(source),
      handles: subjects.length,
      width: out === undefined ? terminalWidth(context.terminal.io) : 80,
    };
    if (!dryRun) await selectedFields(fields, { fields: knownFields(shape) });
    if (from !== undefined) {
      if (dryRun) {
        context.terminal.notice(
          `with --from, ${from} is read and no calls are sent, so --dry-run has nothing to show`,
        );
        return 0;
      }
      return await showExport(context, from, subjects, window, shape, strict);
    }
    const saved = await openSavedNumbers(context, noCache, maxAge);
    const targets = createTargets(
      subjects,
      others,
      await openCachedLookup(context, { noCache, maxAge }),
    );
    if (resume && !fresh && out !== undefined && (await isFinished(context, out, subjects)))
      return 0;
    if (dryRun) {
      const all = [...subjects.keys()];
      const left =
        out === undefined ? all : await notExported(context, subjects, { out, resume, fresh });
      const lookups = await targets.lookups(left);
      const todo = await withoutCached(saved, targets, left);
      const isOpen = new Set(todo);
      const answered = all.filter((position) => !isOpen.has(position));
      const calls = [...lookups, ...numbersCalls(targets, todo)];
      for (const call of numbersCalls(targets, answered)) calls.push(notSent(call));
      await isDryRun(context, calls);
      return 0;
    }
    if (out === undefined || (!resume && !fresh && isDevice(out)))
      return await streamPnl(context, targets, shape, strict, saved);
    return await exportPnl(context, targets, saved, { out, resume, fresh }, shape, strict);
  },
});

/** Whether a comparison is shown as a table, which has the differences of one window. */
const isTable = (format: OutputFormat): boolean => format === 'table' || format === 'markdown';

/** Whether the output is a pipe or a device, which cannot be resumed. */
const isDevice = (out: string): boolean => {
  const there = statsOf(out);
  return there !== undefined && !there.isFile();
};
