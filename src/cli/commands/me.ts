import { decimal, integer, share, units } from '../../base/amounts.ts';
import { Failure } from '../../base/failure.ts';
import { countText, group } from '../../base/units.ts';
import type { KeyMeters } from '../../contract/ports/client.ts';
import type { Known } from '../../contract/read-record.ts';
import { isGrantedOnce, Me } from '../../contract/records/account.ts';
import { forecast, isMeterKnown, leftOf, runsOutAt, untilRenewal } from '../../core/account.ts';
import { meFields, meView } from '../../output/views/me.ts';
import { value } from '../args/option.ts';
import type { Value } from '../args/values.ts';
import { command } from '../command.ts';
import type { Context } from '../run/context.ts';
import { printDryRun } from '../run/dry-run.ts';
import page from './me.md';

/** Units, or a share of those that the plan includes per month. */
type UnitsGate = number | { readonly share: number };

const unitsOrShare: Value<UnitsGate> = {
  ...units,
  name: 'cu|percent',
  hint: 'write it as 2000000, 500k, 2M or 10%',
  read(text) {
    if (!text.endsWith('%')) return units.read(text);
    const fraction = share.read(text);
    return fraction === undefined ? undefined : { share: fraction };
  },
};

const DAY_MS = 86_400_000;

export const me = command({
  path: 'me',
  page,
  options: {
    minUnits: value(
      '--min-units',
      'exit 6 if fewer units than this are left, top-ups included',
      unitsOrShare,
    ),
    minReveals: value(
      '--min-reveals',
      'exit 6 if fewer than N wallet reveals are left',
      integer({ min: 0 }),
    ),
    minDays: value(
      '--min-days',
      'exit 6 if the units will run out within N days',
      decimal({ min: 0 }),
    ),
  },
  common: ['output', 'service'],
  calls: ['me'],
  record: () => Me,
  exits: [6],
  async run(context, gates) {
    if (await printDryRun(context, [{ id: 'me', ask: {} }], { fields: meFields })) return;
    await printAccount(context, gates);
  },
});

/** What --min-units, --min-reveals and --min-days require. */
interface Gates {
  readonly minUnits: UnitsGate | undefined;
  readonly minReveals: number | undefined;
  readonly minDays: number | undefined;
}

/** Prints the answer of a free call, before which trdr asks nothing. */
async function printAccount(
  context: Context,
  { minUnits, minReveals, minDays }: Gates,
): Promise<void> {
  const { terminal, settings, service, out } = context;
  const { record, known } = await service.call('me', {});
  const now = terminal.io.clock.now();
  // Units that were granted once neither renew nor belong to a month.
  const outlook = isGrantedOnce(record) ? null : forecast(known, now);
  await out.print(meView(outlook, leftOf(known).units), [record], { isSingle: true });
  if (settings.format === 'table') await (await import('../run/budgets.ts')).noticeBudgets(context);
  checkGate(known, 'units', unitsWanted(known, minUnits));
  checkGate(known, 'reveals', minReveals);
  checkDays(known, now, minDays);
}

/** A share refers to what the plan includes per month. */
function unitsWanted(me: Known<Me>, wanted: UnitsGate | undefined): number | undefined {
  if (typeof wanted !== 'object' || me.entitlement?.unmetered)
    return typeof wanted === 'object' ? 0 : wanted;
  const granted = me.entitlement?.monthlyUnits;
  if (granted === undefined)
    throw undecided('the CU that the key gets each month', '--min-units with a percentage');
  return granted * wanted.share;
}

/**
 * Throws if the units, at the rate of this month, will run out within `minDays` days and before
 * they renew.
 */
function checkDays(me: Known<Me>, now: number, minDays: number | undefined): void {
  if (minDays === undefined) return;
  const at = isMeterKnown(me, 'units') ? runsOutAt(me, now) : undefined;
  if (at === null || (at !== undefined && at - now >= minDays * DAY_MS)) return;
  if (at === undefined && isMeterKnown(me, 'units') && me.usage?.unitsUsed !== undefined)
    throw new Failure('answer', 'the first hour of the month is too short to know its rate', {
      code: 'TOO_EARLY',
      retryable: true,
      hint: 'cannot check --min-days; run it again after 01:00 UTC, or use --min-units',
    });
  if (at === undefined) throw undecided('how many units are used and left', '--min-days');
  const days = ((at - now) / DAY_MS).toFixed(1);
  const what =
    at === now ? 'no units are left' : `the units will run out in ${days} days at this rate`;
  const message = `${what}, but --min-days requires ${countText(minDays, 'day')}`;
  const hint = `spend less, top up, ${untilRenewal(leftOf(me))}`;
  throw new Failure('limit', message, { code: 'DAYS_LOW', hint });
}

const undecided = (what: string, flag: string) =>
  new Failure('answer', `the service does not report ${what}`, {
    code: 'BAD_ANSWER',
    hint: `cannot check ${flag}; run "trdr doctor" to see how the service differs from its description`,
  });

const gates = {
  units: {
    noun: 'unit',
    code: 'UNITS_LOW',
    hint: (left: KeyMeters) => `top up, ${untilRenewal(left)}`,
  },
  reveals: {
    noun: 'reveal',
    code: 'REVEALS_LOW',
    hint: () => 'wait until the UTC month ends; top-ups do not add reveals',
  },
} as const;

/** An unlimited allowance always passes. */
function checkGate(me: Known<Me>, meter: keyof typeof gates, wanted: number | undefined): void {
  if (wanted === undefined) return;
  if (!isMeterKnown(me, meter)) throw undecided(`how many ${meter} are left`, `--min-${meter}`);
  const meters = leftOf(me);
  const left = meters[meter];
  if (left === null || left >= wanted) return;
  const { noun, code, hint } = gates[meter];
  const message = `only ${countText(left, noun)} left, fewer than the required ${group(wanted)}`;
  throw new Failure('limit', message, { code, hint: hint(meters) });
}
