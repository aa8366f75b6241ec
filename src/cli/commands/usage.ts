import { Failure, usageError as wrongUsage } from '../../base/failure.ts';
import { type ReconcileRecord, UsageAnswer } from '../../contract/records/tool.ts';
import { reconcileView, usageView } from '../../output/views/books.ts';
import { type LedgerEntry, ledgerGroups, readLedger, summarise } from '../../state/ledger.ts';
import { flag, value } from '../args/option.ts';
import { instantAt, oneOf, time } from '../args/values.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { unitsText } from '../spend/estimate.ts';

export const usageCommand = command({
  path: 'usage',
  summary: 'Show what this machine has spent (from the local ledger)',
  about: [
    'The ledger records every paid call: time, command, profile, endpoint, status and cost, but neither keys nor bodies. Days are UTC, as on the bill.',
    'If answers were lost, cu is the certain cost and cuAtMost the upper bound. The sandbox has a ledger of its own; show it with --sandbox.',
    '--reconcile compares the total of this UTC month and profile with what the service counted for the key. A difference means that others use the key.',
  ],
  args: [],
  options: {
    since: value('--since', 'only calls since this time, or of this age (7d)', time, 'all'),
    by: value('--by', 'group by this', oneOf(...ledgerGroups), 'command'),
    reconcile: flag('--reconcile', 'compare this month with the service (free)'),
  },
  common: ['output', 'service'],
  examples: [
    { run: 'trdr usage --since 7d --by day', does: 'the last 7 days, by day' },
    { run: "trdr usage --json | jq 'map(.cu) | add'", does: 'total as a number' },
    { run: 'trdr usage --reconcile', does: 'check whether others use the key' },
  ],
  calls: ['me'],
  record: () => UsageAnswer,
  exits: [0, 2, 4, 5, 7, 9],
  parse(_, given) {
    if (given.reconcile && (given.since !== undefined || given.by !== undefined)) {
      throw wrongUsage(
        '--reconcile cannot be combined with --since or --by',
        'it always compares the current month',
      );
    }
    return given;
  },
  async run(context, { since, by = 'command', reconcile }) {
    if (reconcile) return holdAgainst(context);
    const from =
      since === undefined ? undefined : instantAt(since, context.io.clock.now(), context.settings.utc);
    const sums = await summarise(readLedger({ dir: context.settings.folders.state, since: from }), by);
    await context.print(
      usageView(
        by,
        sums.some(({ cu, atMost }) => atMost !== cu),
      ),
      sums.map(({ group, calls, cu, atMost }) => ({
        group,
        calls,
        cu,
        ...(atMost !== cu && { cuAtMost: atMost }),
      })),
    );
    if (context.format === 'table' && sums.length > 1) {
      const [calls, cu] = [total(sums, 'calls'), total(sums, 'cu')];
      context.notice(`${calls} calls, ${unitsText(cu)} in all`);
    }
    return 0;
  },
});

const total = (sums: readonly { calls: number; cu: number }[], of: 'calls' | 'cu') =>
  sums.reduce((sum, each) => sum + each[of], 0);

async function holdAgainst(context: Context) {
  if (await context.dryRun([{ id: 'me', ask: {} }])) return 0 as const;
  const { known } = await (await context.client()).call('me', {}, { signal: context.signal });
  const { unitsUsed, period: stated = '' } = known.usage ?? {};
  const thisMonth = new Date(context.io.clock.now()).toISOString().slice(0, 7);
  const period = /^\d{4}-\d{2}$/.test(stated) ? stated : thisMonth;
  if (unitsUsed === undefined) {
    throw new Failure('answer', 'the service does not report the units used', {
      code: 'BAD_ANSWER',
      hint: 'trdr doctor shows how the service differs from its description',
    });
  }
  const { folders, profile } = context.settings;
  const [sum] = await summarise(
    ofProfile(readLedger({ dir: folders.state, ...monthOf(period) }), profile),
    'profile',
  );
  const { cu: ledgerCu, atMost } = sum ?? { cu: 0, atMost: 0 };
  const [drift, lostAtMost] = [unitsUsed - ledgerCu, atMost - ledgerCu];
  const found: ReconcileRecord = { period, ledgerCu, serviceCu: unitsUsed, drift, lostAtMost };
  await context.printOne(reconcileView, found);
  if (context.globals.sandbox) {
    context.notice('the embedded service begins to count anew with every run');
  } else if (drift < 0) {
    context.notice(
      `the service counted ${unitsText(-drift)} less: another key was used in profile "${profile}"`,
    );
  } else if (drift > lostAtMost) {
    context.notice(
      `${unitsText(drift - lostAtMost)} were spent elsewhere: by another machine, profile or program`,
    );
  }
  return 0 as const;
}

async function* ofProfile(entries: AsyncIterable<LedgerEntry>, profile: string) {
  for await (const entry of entries) if (entry.profile === profile) yield entry;
}

/** The span of a UTC month as the service writes it; all time where it can't be read. */
function monthOf(period: string): { since?: number; until?: number } {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(period) ?? [];
  if (year === undefined || month === undefined) return {};
  return { since: Date.UTC(Number(year), Number(month) - 1), until: Date.UTC(Number(year), Number(month)) };
}
