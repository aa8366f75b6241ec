import { Failure } from '../../base/failure.ts';
import { plainJson } from '../../base/json-object.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import type { RawRequest } from '../../core/client/raw-request.ts';
import { readRaw } from '../../core/client/read-raw.ts';
import { agentOf } from '../agent.ts';
import type { Context } from '../context.ts';
import { confirm } from '../output/prompt.ts';
import { declined } from './permission.ts';
import { printPlan } from './plan.ts';

/**
 * Asks for confirmation of a raw call if it is expensive or its price is not known. With --dry-run, prints the
 * estimate of the call and returns false, so that the call is not sent.
 */
export async function planRaw(
  context: Context,
  { method, path: given, body }: RawRequest,
  paginate: boolean,
): Promise<boolean> {
  const { path, id, call: matched, isFree } = readRaw(method, given, body);
  const known = matched?.bounds ?? (isFree ? { least: 0, most: 0 } : undefined);
  const name = `${method} ${path.split('?')[0]}`;
  const endless = paginate && known?.most !== 0;
  if (context.globals.dryRun) {
    const call: PlannedCall = {
      endpoint: matched?.id ?? name,
      method,
      path,
      ...(body !== undefined && { body: plainJson(body) ?? body }),
      ...(endless && { times: null }),
      least: known?.least ?? null,
      most: known && !endless ? known.most : null,
    };
    await printPlan(context, [call]);
    return false;
  }
  if (known && endless) {
    const stopped = (spent: string) => ({ message: `stopped after ${spent}; there are more pages` });
    context.permission.begin({ stopped }, context.notice);
  } else if (known) {
    await context.permission.approve(known, { costs: (cost) => `This call will cost ${cost}` });
  } else if (context.settings.maxCu === undefined && !context.globals.yes && !context.globals.sandbox) {
    const why = id ? 'does not accept this request' : 'is not an endpoint known to trdr';
    await confirmUnpriced(context, `${name} ${why}, so its cost is unknown`);
  }
  return true;
}

/** Asks the user to confirm a call whose price is not known. */
async function confirmUnpriced({ io, signal }: Context, unknown: string): Promise<void> {
  const answer = await confirm(io, `${unknown}. Continue?`, signal);
  if (answer === undefined) {
    const agent = agentOf(io.env);
    throw new Failure('confirm', unknown, {
      code: 'CONFIRMATION_NEEDED',
      hint:
        agent === undefined
          ? 'not running interactively: pass --yes to send the call'
          : `only a person can agree to an unknown cost, not an agent (${agent}): let them decide on --yes`,
    });
  }
  if (!answer) throw declined();
}
