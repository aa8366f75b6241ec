import { plainJson } from '../../base/json-object.ts';
import { type PriceBounds, revealsOfCall } from '../../contract/endpoint.ts';
import { type EndpointId, endpoints, SOCKET_PATH } from '../../contract/endpoints.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import { lookAtAccount } from '../../core/ask-account.ts';
import { encode } from '../../core/client/coding.ts';
import { costOf, PLACEHOLDER, type Planned, plus } from '../../core/spend/plan.ts';
import { type PlanRow, planTableView, planView } from '../../output/views/price.ts';
import type { Context } from './context.ts';

/**
 * Prints the calls of a dry run: for people with the total and what is left, for programs one by
 * one.
 */
export async function printPlan(context: Context, planned: Iterable<Planned>): Promise<void> {
  const calls = plannedCalls(planned);
  const { format } = context.settings;
  if (format !== 'table' && format !== 'markdown') return await context.out.print(planView, calls);
  const rows = await planRows(context, calls);
  // The row of what is left states an allowance, not a cost.
  const hasReveals = rows.some(({ least, reveals }) => least !== '' && reveals !== 0);
  await context.out.print(planTableView(hasReveals), rows);
  await unlessAway(context, async () => (await import('./budgets.ts')).noticeBudgets(context));
}

function* plannedCalls(calls: Iterable<Planned>): Generator<PlannedCall> {
  for (const planned of calls) {
    const { times = 1, perMinute } = planned;
    const { endpoint, method, path, body, bounds } = requestOf(planned);
    const { least, most, reveals } = costOf(
      planned,
      bounds && { ...bounds, reveals: revealsOfCall(bounds.reveals) },
    );
    // The id or address that such a call has is not the one that the run will send.
    const isMadeUp = planned.standsFor !== undefined || path.includes(PLACEHOLDER);
    const isPriced = 'id' in planned || planned.bounds !== undefined;
    yield {
      endpoint,
      method,
      path: isMadeUp ? `${templateOf({ endpoint, path })}${queryOf(path)}` : path,
      ...(body !== undefined && { body: plainJson(body) ?? body }),
      ...(perMinute === undefined ? times !== 1 && { times } : { per: 'minute', times: perMinute }),
      least: isPriced ? least : null,
      most,
      ...(reveals !== 0 && isPriced && { reveals }),
    };
  }
}

interface Request extends Pick<PlannedCall, 'endpoint' | 'method' | 'path'> {
  readonly body?: string | undefined;
  /** Undefined if the price is not known, or is that of a minute on the WebSocket. */
  readonly bounds?: PriceBounds | undefined;
}

/**
 * A planned call as it would be sent, with its price. Parameters that the endpoint rejects are a
 * usage error.
 */
export function requestOf(planned: Planned): Request {
  if (!('id' in planned)) {
    const { name, method, path, body, bounds } = planned;
    return { endpoint: name, method, path, body, bounds };
  }
  const { id, ask } = planned;
  if (id === 'ws') return { endpoint: id, method: 'GET', path: SOCKET_PATH };
  const { method, path, body, bounds } = encode(id, ask);
  return { endpoint: id, method, path, body, bounds };
}

async function planRows(context: Context, calls: Iterable<PlannedCall>): Promise<PlanRow[]> {
  const groups = new Map<string, PlannedCall>();
  for (const call of calls) {
    const name = `${call.endpoint} ${call.per}`;
    const sum = groups.get(name) ?? { ...call, times: 0, least: 0, most: 0, reveals: 0 };
    groups.set(name, {
      ...sum,
      path: sum.path === call.path ? call.path : templateOf(call),
      times: plus(sum.times ?? null, call.times === undefined ? 1 : call.times),
      least: plus(sum.least, call.least),
      most: plus(sum.most, call.most),
      reveals: plus(sum.reveals ?? null, call.reveals === undefined ? 0 : call.reveals),
    });
  }
  const rows = [...groups.values()].map((sum): PlanRow => {
    const { method, path, per, times = null, least, most, reveals = null } = sum;
    const shown = path.includes('{') || path.length > LONG_PATH ? templateOf(sum) : path;
    return {
      call: `${method} ${shown}`,
      times: per === undefined ? times : `${times}/min`,
      least,
      most,
      reveals,
    };
  });
  let isPaid = false;
  for (const [per, call] of [
    [undefined, 'total'],
    ['minute', 'total per minute'],
  ] as const) {
    const own = [...groups.values()].filter((group) => group.per === per);
    const sum = (of: 'least' | 'most' | 'reveals') =>
      own.reduce<number | null>((all, group) => plus(all, group[of] ?? null), 0);
    if (sum('most') === 0) continue;
    isPaid = true;
    const cost = { least: sum('least'), most: sum('most'), reveals: sum('reveals') };
    rows.push({ call, times: '', ...cost });
  }
  if (!isPaid) return rows;
  const left = await unlessAway(context, async () =>
    lookAtAccount(await context.service.client(), context.terminal.signal),
  );
  if (!left) return rows;
  const { units, reveals } = left;
  const now = { most: units ?? 'unlimited', reveals: reveals ?? 'unlimited' };
  rows.push({ call: 'left now', times: '', least: '', ...now });
  return rows;
}

const isEndpoint = (id: string): id is EndpointId => id in endpoints;

/**
 * Longer paths usually contain ids and addresses; the template of the endpoint is shown instead.
 */
const LONG_PATH = 50;

const templateOf = ({ endpoint, path }: Pick<PlannedCall, 'endpoint' | 'path'>) =>
  isEndpoint(endpoint) ? endpoints[endpoint].path : path;

const queryOf = (path: string) => /\?.*/.exec(path)?.[0] ?? '';

/** A dry run also works without a key or the service. */
async function unlessAway<T>(context: Context, read: () => Promise<T>): Promise<T | undefined> {
  if (context.service.scope === undefined) return undefined;
  try {
    return await read();
  } catch {
    context.terminal.signal.throwIfAborted();
    return undefined;
  }
}
