import { SOCKET_PATH } from '../../contract/endpoints.ts';
import { cu } from '../../contract/prices.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import { encode } from '../../core/client/coding.ts';
import { planTableView, planView } from '../../output/views/price.ts';
import type { Context, Planned } from '../context.ts';
import { planRows, unitsLeft } from './plan-table.ts';

/** Prints the calls of a dry run: for people with the total and what is left, for programs one by one. */
export async function printPlan(
  context: Context,
  calls: AsyncIterable<PlannedCall> | Iterable<PlannedCall>,
): Promise<void> {
  if (context.format !== 'table' && context.format !== 'markdown')
    return await context.print(planView, calls);
  const rows = await planRows(calls, () => unitsLeft(context));
  await context.print(planTableView, rows);
  for (const line of await knownBudgets(context)) context.notice(line);
}

/** What the budgets have left; empty if this cannot be read, so that a dry run does not fail. */
async function knownBudgets(context: Context): Promise<readonly string[]> {
  if (context.scope === undefined) return [];
  try {
    const { budgetLines } = await import('./budgets.ts');
    return await budgetLines(context);
  } catch {
    context.signal.throwIfAborted();
    return [];
  }
}

/** One minute of the WebSocket, in the form of a planned request. */
const socket = {
  method: 'GET',
  path: SOCKET_PATH,
  body: undefined,
  bounds: { least: cu.socketMinute, most: cu.socketMinute },
};

/** Planned requests as records, each with its cost. */
export async function* plannedCalls(
  planned: Iterable<Planned> | AsyncIterable<Planned>,
): AsyncGenerator<PlannedCall> {
  for await (const { id, ask, times = 1, perMinute, isSure = true } of planned) {
    const { method, path, body, bounds } = id === 'ws' ? socket : encode(id, ask);
    const call = {
      endpoint: id,
      method,
      path,
      ...(body !== undefined && { body: JSON.parse(body) as unknown }),
    };
    if (perMinute === undefined) {
      const repeated = times === 1 ? {} : { times };
      const most = times === null ? null : bounds.most * times;
      yield { ...call, ...repeated, least: isSure ? bounds.least : 0, most };
    } else {
      const cost = { least: bounds.least * perMinute, most: bounds.most * perMinute };
      yield { ...call, per: 'minute', times: perMinute, ...cost };
    }
  }
}
