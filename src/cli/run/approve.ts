import { type KnownEstimate, type Plan, totalOf } from '../../core/spend/plan.ts';
import { agentOf } from '../agent.ts';
import { commandWith } from '../command-line.ts';
import { agree, canAsk } from '../prompt.ts';
import type { Context } from './context.ts';
import { declined } from './spending-permission.ts';

/**
 * Asks whether the run may spend what its plan costs, if anybody has to be asked. Nothing else
 * gives a run permission to spend, so every command that pays comes through here. Returns the
 * estimate if its greatest cost is known.
 */
export async function approve(
  plan: Plan,
  { terminal, settings, service }: Pick<Context, 'terminal' | 'settings' | 'service'>,
): Promise<KnownEstimate | undefined> {
  const { maxCu, flags } = settings;
  if (plan.unpriced !== undefined) {
    if (maxCu === undefined && !flags.yes && !flags.sandbox)
      await agreeToUnknown(plan.unpriced, terminal, service);
    return undefined;
  }
  const estimate = await service.permission.start(
    plan,
    plan.isOpen ? undefined : totalOf(plan.calls),
  );
  if (estimate) await plan.check?.(estimate);
  return estimate;
}

async function agreeToUnknown(
  why: string,
  { io, signal }: Context['terminal'],
  { permission }: Context['service'],
): Promise<void> {
  const message = `${why}, so its cost is unknown`;
  const agent = agentOf(io.env);
  const hint =
    agent === undefined
      ? 'not running interactively: pass --yes to send the call'
      : `only a person can agree to an unknown cost, not an agent (${agent}): let them decide on --yes`;
  const [name = '', ...words] = io.argv;
  const command = commandWith([name, '--yes', ...words]);
  const approval = canAsk(io) ? undefined : await permission.approvalFor(0, null, command);
  await agree(io, `${message}. Continue?`, signal, { message, hint, approval }, declined());
}
