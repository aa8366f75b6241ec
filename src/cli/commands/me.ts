import { Failure } from '../../base/failure.ts';
import { group } from '../../base/units.ts';
import type { Known } from '../../contract/known.ts';
import { Me } from '../../contract/records/account.ts';
import { forecast, isMeterKnown, leftOf } from '../../core/account.ts';
import { meView } from '../../output/views/me.ts';
import { value } from '../args/option.ts';
import { integer, units } from '../args/values.ts';
import { command } from '../command.ts';

export const me = command({
  path: 'me',
  summary: 'Show plan, limits, usage and remaining allowance (free)',
  about: [
    'Units and wallet reveals are separate allowances. Top-ups add units; reveals renew only with the UTC month.',
    'With --min-units, --min-reveals or --min-days, exits 6 after printing if less is left: a check for cron.',
  ],
  args: [],
  options: {
    minUnits: value('--min-units', 'exit 6 when fewer units are left, top-ups included', units),
    minReveals: value('--min-reveals', 'exit 6 when fewer wallet reveals are left', integer({ min: 0 })),
  },
  common: ['output', 'service'],
  examples: [
    { run: 'trdr me', does: 'plan, usage and what is left' },
    { run: 'trdr me --min-units 2M -q -o json > /dev/null || alert', does: 'alert before the units run out' },
    { run: 'trdr me --json --fields usage.unitsRemaining', does: 'a single number for a script' },
  ],
  calls: ['me'],
  record: () => Me,
  exits: [0, 2, 4, 5, 6, 7, 9],
  parse: (_, given) => given,
  async run(context, { minUnits, minReveals }) {
    if (await context.dryRun([{ id: 'me', ask: {} }])) return 0;
    const { record, known } = await (await context.client()).call('me', {}, { signal: context.signal });
    await context.printOne(meView(forecast(known, context.io.clock.now())), record);
    checkGate(known, { units: minUnits, reveals: minReveals });
    return 0;
  },
});

/** Throws where less is left than the user asked for, or where nobody can tell; no cap is always enough. */
export function checkGate(
  me: Known<Me>,
  least: { units: number | undefined; reveals: number | undefined },
): void {
  const left = leftOf(me);
  for (const meter of ['units', 'reveals'] as const) {
    const [has, wants] = [left[meter], least[meter]];
    if (wants === undefined) continue;
    if (!isMeterKnown(me, meter)) {
      throw new Failure('answer', `the service does not report how many ${meter} are left`, {
        code: 'BAD_ANSWER',
        hint: `--min-${meter} cannot be decided; trdr doctor shows how the service differs from its description`,
      });
    }
    if (has !== null && has < wants) {
      throw new Failure(
        'limit',
        `${group(has)} ${meter} are left, fewer than the ${group(wants)} asked for`,
        {
          code: meter === 'units' ? 'UNITS_LOW' : 'REVEALS_LOW',
          hint:
            meter === 'units'
              ? 'top up, or wait for the UTC month to turn'
              : 'reveals come back with the UTC month; top-ups do not lift them',
        },
      );
    }
  }
}
