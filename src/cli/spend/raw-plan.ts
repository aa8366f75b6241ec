import { Failure } from '../../base/failure.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import { isFree, matchEndpoint, rawPath } from '../../core/client/match-endpoint.ts';
import type { RawRequest } from '../../core/client/raw-request.ts';
import { planView } from '../../output/views/price.ts';
import type { Context } from '../context.ts';
import { confirm } from './confirm.ts';

/** Says what a raw call can cost, and asks where it is much; false where nothing is to be sent. */
export async function planRaw(
  context: Context,
  { method, path: given, body }: RawRequest,
  paginate: boolean,
): Promise<boolean> {
  const path = rawPath(given);
  const matched = matchEndpoint(method, path, body);
  const known = matched?.bounds ?? (isFree(method, path) ? { least: 0, most: 0 } : undefined);
  const endless = paginate && known?.most !== 0;
  if (context.globals.dryRun) {
    const call: PlannedCall = {
      endpoint: matched?.id ?? `${method} ${path.split('?')[0]}`,
      method,
      path,
      ...(body !== undefined && { body: jsonOr(body) }),
      ...(endless && { times: null }),
      least: known?.least ?? null,
      most: known && !endless ? known.most : null,
    };
    await context.print(planView, [call]);
    return false;
  }
  if (known) {
    await context.approve({ least: known.least, most: endless ? null : known.most }, 'this call');
  } else if (context.settings.maxCu === undefined && !context.globals.yes) {
    await confirmUnpriced(context, `${method} ${path.split('?')[0]}`);
  }
  return true;
}

/** A call of unknown price is sent on a person's word alone. */
async function confirmUnpriced({ io, signal }: Context, call: string): Promise<void> {
  const unknown = `${call} is not an endpoint known to trdr, so its cost is unknown`;
  const answer = await confirm(io, `${unknown}. Continue?`, signal);
  if (answer === undefined) {
    throw new Failure('confirm', unknown, {
      code: 'CONFIRMATION_NEEDED',
      hint: 'not running interactively: pass --yes to send it',
    });
  }
  if (!answer) {
    throw new Failure('confirm', 'cancelled; nothing was sent or charged', { code: 'NOT_CONFIRMED' });
  }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
