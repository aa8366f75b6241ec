import { type EndpointId, endpoints, SOCKET_PATH, SOCKET_PRICE } from '../../contract/endpoints.ts';
import type { PlannedCall, PriceRecord } from '../../contract/records/tool.ts';
import { encode, endpointRow } from '../../core/client/coding.ts';
import { type PlanRow, planTableView, planView } from '../../output/views/price.ts';
import type { AnyCommand } from '../command.ts';
import type { Context, Planned } from '../context.ts';
import { lookAtAccount } from '../lookup/account.ts';
import { costOf, plus, SOCKET_MINUTE } from './estimate.ts';

/** One minute of the WebSocket, in the form of a planned request. */
const socket = { method: 'GET', path: SOCKET_PATH, body: undefined, bounds: SOCKET_MINUTE };

/** Planned requests as records, each with its cost. */
export async function* plannedCalls(
  planned: Iterable<Planned> | AsyncIterable<Planned>,
): AsyncGenerator<PlannedCall> {
  for await (const one of planned) {
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

/** Prints the calls of a dry run: for people with the total and what is left, for programs one by one. */
export async function printPlan(
  context: Context,
  calls: AsyncIterable<PlannedCall> | Iterable<PlannedCall>,
): Promise<void> {
  if (context.format !== 'table' && context.format !== 'markdown')
    return await context.print(planView, calls);
  await context.print(planTableView, await planRows(context, calls));
  const lines = await unlessAway(context, async () => (await import('./budgets.ts')).budgetLines(context));
  for (const line of lines ?? []) context.notice(line);
}

/** The calls of one endpoint and unit of its price. */
interface Group extends Pick<PlannedCall, 'per' | 'least' | 'most'> {
  readonly call: PlannedCall;
  readonly paths: ReadonlySet<string>;
  readonly times: number | null;
}

/** The calls of a dry run as rows for people: one per group, then the total and what is left. */
async function planRows(
  context: Context,
  calls: AsyncIterable<PlannedCall> | Iterable<PlannedCall>,
): Promise<PlanRow[]> {
  const groups = new Map<string, Group>();
  for await (const call of calls) {
    const { endpoint, per, path, times = 1, least, most } = call;
    const name = `${endpoint} ${per}`;
    const sum = groups.get(name) ?? { call, per, paths: new Set<string>(), times: 0, least: 0, most: 0 };
    groups.set(name, {
      ...sum,
      paths: new Set([...sum.paths, path].slice(0, 2)),
      times: plus(sum.times, times),
      least: plus(sum.least, least),
      most: plus(sum.most, most),
    });
  }
  const rows = [...groups.values()].map((group): PlanRow => {
    const { call, per, times, least, most } = group;
    const count = per === undefined ? times : `${times}/min`;
    return { call: `${call.method} ${pathOf(group)}`, times: count, least, most };
  });
  let isPaid = false;
  for (const [per, call] of [
    [undefined, 'total'],
    ['minute', 'total per minute'],
  ] as const) {
    const own = [...groups.values()].filter((group) => group.per === per);
    const sum = (of: 'least' | 'most') => own.reduce<number | null>((all, group) => plus(all, group[of]), 0);
    if (sum('most') === 0) continue;
    isPaid = true;
    rows.push({ call, times: '', least: sum('least'), most: sum('most') });
  }
  if (!isPaid) return rows;
  const left = await unlessAway(context, async () => lookAtAccount(await context.client(), context.signal));
  if (left) rows.push({ call: 'left now', times: '', least: '', most: left.units ?? 'unlimited' });
  return rows;
}

const isEndpoint = (id: string): id is EndpointId => id in endpoints;

/**
 * Paths with more characters than this usually contain ids and addresses. The path template of the endpoint is
 * shown instead.
 */
const LONG_PATH = 50;

/** The path that is shown for a group of calls: their common path if it is short, otherwise that of the endpoint. */
function pathOf({ call, paths }: Group): string {
  const isShort = paths.size === 1 && call.path.length <= LONG_PATH;
  return isShort || !isEndpoint(call.endpoint) ? call.path : endpoints[call.endpoint].path;
}

/** Reads what is left; undefined if that is not possible, so that a dry run also works without a key or the service. */
async function unlessAway<T>(context: Context, read: () => Promise<T>): Promise<T | undefined> {
  if (context.scope === undefined) return undefined;
  try {
    return await read();
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}

/** The price list. A row states the cost of one call, of one handle in a batch, or of a minute on the WebSocket. */
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

/** The prices of the calls that a command may make. */
export function callPrices({ calls }: Pick<AnyCommand, 'calls'>): PriceRecord[] {
  const all = priceList();
  return calls.flatMap((id) => all.filter(({ endpoint }) => endpoint === id));
}
