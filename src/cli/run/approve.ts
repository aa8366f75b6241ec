import { Failure, usageError } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { KeyMeters } from '../../contract/ports/client.ts';
import { untilRenewal } from '../../core/account.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import { type KnownEstimate, type Plan, type Planned, totalOf } from '../../core/spend/plan.ts';
import type { View } from '../../output/view.ts';
import { agentOf } from '../agent.ts';
import { agree } from '../prompt.ts';
import { accountSharing } from './answers.ts';
import type { Context } from './context.ts';
import { selectedFields } from './open-printer.ts';
import { declined } from './permission.ts';

/**
 * Whether the run only prints its calls, which this does. Any other run has its --fields checked,
 * before anything is sent.
 */
export async function isDryRun(
  context: Context,
  calls: Iterable<Planned>,
  view?: Pick<View<never>, 'fields'>,
): Promise<boolean> {
  const { flags } = context.settings;
  if (!flags.dryRun) {
    if (flags.curl)
      throw usageError('--curl requires --dry-run', 'add --dry-run, which sends nothing');
    if (view) await selectedFields(flags.fields, view);
    return false;
  }
  if (flags.curl) {
    const { printCurl } = await import('./curl.ts');
    await printCurl(context, calls);
    return true;
  }
  const { printPlan } = await import('./print-plan.ts');
  await printPlan(context, calls);
  return true;
}

/**
 * Asks whether the run may spend what its plan costs, if anybody has to be asked. Nothing else
 * gives a run permission to spend, so every command that pays comes through here.
 */
export async function approve(
  plan: Plan,
  { terminal, settings, service }: Pick<Context, 'terminal' | 'settings' | 'service'>,
): Promise<void> {
  const { maxCu, flags } = settings;
  if (plan.unpriced !== undefined) {
    if (maxCu === undefined && !flags.yes && !flags.sandbox)
      await agreeToUnknown(plan.unpriced, terminal);
    return;
  }
  const known = await service.permission.start(plan, plan.isOpen ? undefined : totalOf(plan.calls));
  if (known) await plan.check?.(known);
}

async function agreeToUnknown(why: string, { io, signal }: Context['terminal']): Promise<void> {
  const message = `${why}, so its cost is unknown`;
  const agent = agentOf(io.env);
  const hint =
    agent === undefined
      ? 'not running interactively: pass --yes to send the call'
      : `only a person can agree to an unknown cost, not an agent (${agent}): let them decide on --yes`;
  await agree(io, `${message}. Continue?`, signal, { message, hint }, declined());
}

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
