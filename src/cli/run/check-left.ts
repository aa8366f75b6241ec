import { Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { KeyMeters } from '../../contract/ports/client.ts';
import { untilRenewal } from '../../core/account.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import type { KnownEstimate } from '../../core/spend/plan.ts';
import { accountSharing } from './answers.ts';
import type { Context } from './context.ts';

/**
 * Throws before the first paid call if fewer units are left than the run needs, and warns if they
 * may not suffice.
 */
export async function checkLeft(
  context: Context,
  what: string,
  estimate: KnownEstimate,
): Promise<void> {
  const { maxCu, confirmAbove, flags } = context.settings;
  if (estimate.most <= confirmAbove || flags.sandbox) return;
  const sharing = await accountSharing(context);
  const client = await context.service.client();
  const left = await lookAtAccount(client, context.terminal.signal, { sharing });
  if (!left) return;
  const needed = Math.min(estimate.least, maxCu ?? estimate.least);
  if (left.units !== null && left.units < needed) {
    throw new Failure(
      'quota',
      `${what} costs at least ${unitsText(needed)} but only ${unitsText(left.units)} are left`,
      {
        code: 'QUOTA_EXCEEDED',
        hint: `request fewer subjects, top up, ${untilRenewal(left)}; "trdr me" shows what is left`,
      },
    );
  }
  warnOfShortage(context, what, estimate, left);
}

/** Reports that the units or reveals that are left may not cover the run. */
export function warnOfShortage(
  { settings: { maxCu }, terminal }: Pick<Context, 'settings' | 'terminal'>,
  what: string,
  { most, reveals }: KnownEstimate,
  left: KeyMeters,
): void {
  if (left.units !== null && left.units < Math.min(most, maxCu ?? most))
    terminal.notice(
      `${unitsText(left.units)} left; ${what} may cost more, and stops when the units are used up`,
    );
  if (left.reveals !== null && left.reveals < (reveals ?? 0))
    terminal.notice(
      `${countText(left.reveals, 'wallet reveal')} left; ${what} may need more, and stops when the reveals are used up`,
    );
}
