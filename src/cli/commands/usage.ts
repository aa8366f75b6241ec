import { Failure, usageError } from '../../base/failure.ts';
import { instantAt, time } from '../../base/times.ts';
import { countText, unitsText } from '../../base/units.ts';
import { oneOf } from '../../base/values.ts';
import type { LedgerEntry } from '../../contract/ports/ledger.ts';
import { type ReconcileRecord, UsageAnswer } from '../../contract/records/tool.ts';
import { estimateText } from '../../output/cost-text.ts';
import { reconcileView, usageView } from '../../output/views/usage.ts';
import {
  type LedgerSum,
  ledgerGroups,
  readLedger,
  summarize,
} from '../../state/ledger/read-ledger.ts';
import { excluding, flag, value } from '../args/option.ts';
import { command } from '../command.ts';
import type { Context } from '../run/context.ts';
import { printDryRun } from '../run/dry-run.ts';
import page from './usage.md';

export const usageCommand = command({
  path: 'usage',
  page,
  options: {
    since: value('--since', 'only calls since this time, such as 7d (7 days ago)', time, 'all'),
    by: value('--by', 'group by this field', oneOf(...ledgerGroups, 'machine'), 'command'),
    store: flag('--store', 'count the calls of all machines, from the shared store'),
    reconcile: excluding(
      flag('--reconcile', 'compare this month with the service (free)'),
      '--since',
      '--by',
      '--store',
    ),
  },
  common: ['output', 'service'],
  calls: ['me'],
  record: () => UsageAnswer,
  parse(_, flags) {
    if (flags.store && (flags.by === 'agent' || flags.by === 'profile'))
      throw usageError(
        `the store does not record ${flags.by}s`,
        'omit --store, or use another --by',
      );
    return flags;
  },
  async run(context, { since, by = 'command', reconcile, store }) {
    // The ledger entries call the name of the machine `host`.
    const field = by === 'machine' ? 'host' : by;
    if (reconcile) {
      await compareWithService(context);
      return;
    }
    const from =
      since === undefined
        ? undefined
        : instantAt(since, context.terminal.io.clock.now(), context.settings.utc);
    const entries = store ? sharedEntries(context, from) : localEntries(context, from);
    const sums = await summarize(entries, field);
    const whole = total(sums);
    await context.out.print(
      usageView(by, {
        lost: whole.atMost !== whole.cu,
        unpriced: whole.unpriced > 0,
        reveals: whole.revealsAtMost > 0,
      }),
      sums.map(({ group, calls, cu, atMost, unpriced, last, reveals, revealsAtMost }) => ({
        [by]: group,
        ...(last?.requestId !== undefined && { sentAt: last.time, endpoint: last.endpoint }),
        calls,
        cu,
        ...(atMost !== cu && { cuAtMost: atMost }),
        ...(reveals !== undefined && { reveals }),
        ...(revealsAtMost !== (reveals ?? 0) && { revealsAtMost }),
        ...(unpriced > 0 && { unpriced }),
      })),
    );
    if (context.settings.format === 'table') {
      const cost = estimateText({ least: whole.cu, most: whole.atMost });
      if (sums.length > 1)
        context.terminal.notice(`total: ${countText(whole.calls, 'call')}, ${cost}`);
      await (await import('../run/budgets.ts')).noticeBudgets(context, store);
    }
    if (whole.unpriced > 0)
      context.terminal.notice(`plus ${countText(whole.unpriced, 'call')} whose price is not known`);
  },
});

/** The entries of this machine: of all profiles, unless --profile names one. */
async function* localEntries(
  { settings }: Context,
  from: number | undefined,
): AsyncGenerator<LedgerEntry, void, void> {
  const { profile } = settings.flags;
  for await (const entry of readLedger(settings.folders.state, from))
    if (profile === undefined || entry.profile === profile) yield entry;
}

async function* sharedEntries(context: Context, since = 0): AsyncGenerator<LedgerEntry> {
  const { readSharedLedger } = await import('../../store/status.ts');
  const { link, keys } = await context.service.needStore();
  yield* await link.use((store) => readSharedLedger(store, keys, since));
}

const total = (sums: readonly LedgerSum[]) =>
  sums.reduce(
    (sum, { calls, cu, atMost, unpriced, revealsAtMost }) => ({
      calls: sum.calls + calls,
      cu: sum.cu + cu,
      atMost: sum.atMost + atMost,
      unpriced: sum.unpriced + unpriced,
      revealsAtMost: sum.revealsAtMost + revealsAtMost,
    }),
    { calls: 0, cu: 0, atMost: 0, unpriced: 0, revealsAtMost: 0 },
  );

async function compareWithService(context: Context) {
  if (await printDryRun(context, [{ id: 'me', ask: {} }], reconcileView)) return;
  const { known } = await context.service.call('me', {});
  const { unitsUsed, period: stated = '' } = known.usage ?? {};
  const thisMonth = new Date(context.terminal.io.clock.now()).toISOString().slice(0, 7);
  const period = /^\d{4}-\d{2}$/.test(stated) ? stated : thisMonth;
  if (unitsUsed === undefined) {
    throw new Failure('answer', 'the service does not report the units used', {
      code: 'BAD_ANSWER',
      hint: 'run "trdr doctor" to see how the service differs from its description',
    });
  }
  const { folders, profile } = context.settings;
  const [year = 0, month = 0] = period.split('-').map(Number);
  const entries = readLedger(folders.state, Date.UTC(year, month - 1), Date.UTC(year, month));
  const sums = await summarize(entries, 'profile');
  const { cu: ledgerCu, atMost, unpriced } = total(sums.filter(({ group }) => group === profile));
  const [drift, lostAtMost] = [unitsUsed - ledgerCu, atMost - ledgerCu];
  const reconciled: ReconcileRecord = {
    period,
    ledgerCu,
    serviceCu: unitsUsed,
    drift,
    lostAtMost,
    ...(unpriced > 0 && { unpriced }),
  };
  await context.out.print(reconcileView, [reconciled], { isSingle: true });
  if (context.settings.flags.sandbox)
    context.terminal.notice('the sandbox starts counting at zero in every run');
  else {
    const text = driftText(reconciled, profile);
    if (text !== undefined) context.terminal.notice(text);
  }
}

/**
 * The ledger counts only the certain cost of lost answers, so they can explain why the service
 * counted more.
 */
function driftText(
  { drift, lostAtMost, unpriced = 0, ledgerCu }: ReconcileRecord,
  profile: string,
): string | undefined {
  const range = estimateText({ least: ledgerCu, most: ledgerCu + lostAtMost });
  if (drift < 0) {
    return `the service counted ${unitsText(-drift)} less than the ledger: the count of the service may be late, or profile "${profile}" was used with a different key`;
  }
  if (drift === 0) return undefined;
  if (drift <= lostAtMost)
    return `calls of uncertain cost explain the difference: this machine spent ${range}`;
  const beyond = `the service counted ${unitsText(drift - lostAtMost)} more than this machine can have spent (${range})`;
  return unpriced > 0
    ? `${beyond}: ${countText(unpriced, 'call')} of unknown price caused this, or others use the key`
    : `${beyond}: another machine, profile or program uses the key`;
}
