import { plainJson } from '../../base/json-object.ts';
import { type EndpointId, endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import type { PlannedCall, PriceRecord } from '../../contract/records/tool.ts';
import { encode, endpointRow } from '../../core/client/coding.ts';
import type { RawRequest } from '../../core/client/raw-request.ts';
import { readRaw } from '../../core/client/read-raw.ts';
import { type PlanRow, planTableView, planView } from '../../output/views/price.ts';
import { agentOf } from '../agent.ts';
import type { AnyCommand } from '../command.ts';
import { lookAtAccount } from '../lookup/account.ts';
import { agree } from '../output/prompt.ts';
import type { Context } from '../run/context.ts';
import type { Planned } from '../run/planned.ts';
import { declined } from './permission.ts';
import { costOf, plus, SOCKET_MINUTE } from './preflight.ts';

const socket = { method: 'GET', path: SOCKET_PATH, body: undefined, bounds: SOCKET_MINUTE };

function* plannedCalls(planned: Iterable<Planned>): Generator<PlannedCall> {
  for (const one of planned) {
    const { id, ask, times = 1, perMinute } = one;
    const { method, path, body, bounds } = id === 'ws' ? socket : encode(id, ask);
    const { least, most } = costOf(one, bounds);
    yield {
      endpoint: id,
      method,
      path,
      ...(body !== undefined && { body: JSON.parse(body) as unknown }),
      ...(perMinute === undefined ? times !== 1 && { times } : { per: 'minute', times: perMinute }),
      least,
      most,
    };
  }
}

/** Prints the calls of a dry run. */
export const printDryRun = (context: Context, planned: Iterable<Planned>): Promise<void> =>
  printPlan(context, plannedCalls(planned));

/** For people with the total and what is left, for programs one by one. */
async function printPlan(context: Context, calls: Iterable<PlannedCall>): Promise<void> {
  if (context.settings.format !== 'table' && context.settings.format !== 'markdown')
    return await context.out.print(planView, calls);
  await context.out.print(planTableView, await planRows(context, calls));
  await unlessAway(context, async () => (await import('./budgets.ts')).noticeBudgets(context));
}

async function planRows(context: Context, calls: Iterable<PlannedCall>): Promise<PlanRow[]> {
  const groups = new Map<string, PlannedCall>();
  for (const call of calls) {
    const name = `${call.endpoint} ${call.per}`;
    const sum = groups.get(name) ?? { ...call, times: 0, least: 0, most: 0 };
    groups.set(name, {
      ...sum,
      path: sum.path === call.path ? call.path : templateOf(call),
      times: plus(sum.times ?? null, call.times === undefined ? 1 : call.times),
      least: plus(sum.least, call.least),
      most: plus(sum.most, call.most),
    });
  }
  const rows = [...groups.values()].map((sum): PlanRow => {
    const { method, path, per, times = null, least, most } = sum;
    const shown = path.length > LONG_PATH ? templateOf(sum) : path;
    return {
      call: `${method} ${shown}`,
      times: per === undefined ? times : `${times}/min`,
      least,
      most,
    };
  });
  let isPaid = false;
  for (const [per, call] of [
    [undefined, 'total'],
    ['minute', 'total per minute'],
  ] as const) {
    const own = [...groups.values()].filter((group) => group.per === per);
    const sum = (of: 'least' | 'most') =>
      own.reduce<number | null>((all, group) => plus(all, group[of]), 0);
    if (sum('most') === 0) continue;
    isPaid = true;
    rows.push({ call, times: '', least: sum('least'), most: sum('most') });
  }
  if (!isPaid) return rows;
  const left = await unlessAway(context, async () =>
    lookAtAccount(await context.service.client(), context.terminal.signal),
  );
  if (left) rows.push({ call: 'left now', times: '', least: '', most: left.units ?? 'unlimited' });
  return rows;
}

const isEndpoint = (id: string): id is EndpointId => id in endpoints;

/** Longer paths usually contain ids and addresses; the template of the endpoint is shown instead. */
const LONG_PATH = 50;

const templateOf = ({ endpoint, path }: PlannedCall) =>
  isEndpoint(endpoint) ? endpoints[endpoint].path : path;

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

/** A row is one call, one handle in a batch, or a minute on the WebSocket. */
export function priceList(): PriceRecord[] {
  const rows = Object.keys(endpoints)
    .filter(isEndpoint)
    .map((endpoint) => {
      const { method, path, price } = endpointRow(endpoint);
      const { least, most } = price.before({ params: {}, query: {}, body: { handles: ['one'] } });
      return { endpoint, method, path, least, most, price: price.text };
    });
  const { method, path, bounds } = socket;
  return [
    ...rows,
    { endpoint: 'ws', method, path, least: bounds.least, most: bounds.most, price: SOCKET_PRICE },
  ];
}

export function callPrices({ calls }: Pick<AnyCommand, 'calls'>): PriceRecord[] {
  const all = priceList();
  return calls.flatMap((id) => all.filter(({ endpoint }) => endpoint === id));
}

/** Asks for confirmation if necessary. With --dry-run, prints the estimate and returns false. */
export async function planRaw(
  context: Context,
  { method, path: given, body }: RawRequest,
  paginate: boolean,
): Promise<boolean> {
  const { path, id, call: matched, isFree } = readRaw(method, given, body);
  const known = matched?.bounds ?? (isFree ? { least: 0, most: 0 } : undefined);
  const name = `${method} ${path.split('?')[0]}`;
  const endless = paginate && known?.most !== 0;
  if (context.settings.flags.dryRun) {
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
  if (known) {
    const costs = (cost: string) => `This call will cost ${cost}`;
    const stopped = (spent: string) => ({
      message: `stopped after ${spent}; there are more pages`,
    });
    const estimate = endless ? { least: 0, most: null } : known;
    await context.service.permission.start(estimate, costs, {
      stopped,
      notice: context.terminal.notice,
    });
  } else if (
    context.settings.maxCu === undefined &&
    !context.settings.flags.yes &&
    !context.settings.flags.sandbox
  ) {
    const why = id ? 'does not accept this request' : 'is not an endpoint known to trdr';
    const message = `${name} ${why}, so its cost is unknown`;
    const agent = agentOf(context.terminal.io.env);
    const hint =
      agent === undefined
        ? 'not running interactively: pass --yes to send the call'
        : `only a person can agree to an unknown cost, not an agent (${agent}): let them decide on --yes`;
    const { io, signal } = context.terminal;
    await agree(io, `${message}. Continue?`, signal, { message, hint }, declined());
  }
  return true;
}
