import { type EndpointId, endpoints } from '../../contract/endpoints.ts';
import type { PlannedCall } from '../../contract/records/tool.ts';
import type { PlanRow } from '../../output/views/price.ts';
import type { Context } from '../context.ts';
import { lookAtAccount } from './balance.ts';

interface Group {
  readonly call: PlannedCall;
  readonly paths: Set<string>;
  times: number | null;
  least: number | null;
  most: number | null;
}

const plus = (one: number | null, other: number | null) =>
  one === null || other === null ? null : one + other;

const isEndpoint = (id: string): id is EndpointId => id in endpoints;

/**
 * Paths with more characters than this usually contain ids and addresses. The path template of the endpoint is
 * shown instead.
 */
const LONG_PATH = 50;

/**
 * The path that is shown for a group of calls: their common path if it is short, otherwise the path template
 * of the endpoint.
 */
function pathOf({ call, paths }: Group): string {
  const isShort = paths.size === 1 && call.path.length <= LONG_PATH;
  return isShort || !isEndpoint(call.endpoint) ? call.path : endpoints[call.endpoint].path;
}

/** The calls of a dry run as rows for people: one per endpoint and unit of its price, then the total and what is left. */
export async function planRows(
  calls: AsyncIterable<PlannedCall> | Iterable<PlannedCall>,
  left: () => Promise<number | null | undefined>,
): Promise<PlanRow[]> {
  const groups = new Map<string, Group>();
  for await (const call of calls) {
    const { endpoint, per, path, times = 1, least, most } = call;
    const group = groups.get(`${endpoint} ${per}`);
    if (!group) {
      groups.set(`${endpoint} ${per}`, { call, paths: new Set([path]), times, least, most });
      continue;
    }
    group.paths.add(path);
    group.times = plus(group.times, times);
    group.least = plus(group.least, least);
    group.most = plus(group.most, most);
  }
  const rows = [...groups.values()].map((group): PlanRow => {
    const { call, times, least, most } = group;
    const isPerMinute = call.per !== undefined;
    return {
      call: `${call.method} ${pathOf(group)}`,
      times: isPerMinute ? `${times}/min` : times,
      least,
      most,
    };
  });
  const sums = (per: PlannedCall['per']) => {
    const own = [...groups.values()].filter(({ call }) => call.per === per);
    const sum = (of: 'least' | 'most') => own.reduce<number | null>((all, group) => plus(all, group[of]), 0);
    return { least: sum('least'), most: sum('most') };
  };
  const [once, minute] = [sums(undefined), sums('minute')];
  if (once.most === 0 && minute.most === 0) return rows;
  if (once.most !== 0) rows.push({ call: 'total', times: '', ...once });
  if (minute.most !== 0) rows.push({ call: 'total per minute', times: '', ...minute });
  const units = await left();
  if (units !== undefined) rows.push({ call: 'left now', times: '', least: '', most: units ?? 'unlimited' });
  return rows;
}

/**
 * The units that the key has left; null if unlimited. Undefined if they cannot be requested, so that a dry run
 * also works without a key or the service.
 */
export async function unitsLeft(context: Context): Promise<number | null | undefined> {
  if (context.scope === undefined) return undefined;
  try {
    const client = await context.client();
    return (await lookAtAccount(client, context.signal))?.units;
  } catch {
    context.signal.throwIfAborted();
    return undefined;
  }
}
