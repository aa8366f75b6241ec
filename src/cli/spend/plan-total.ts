import type { PlannedCall, PlanTotal } from '../../contract/records/tool.ts';

/** A number of CU, or null if it has no bound. */
type Cu = number | null;

/** The sum of two bounds, which has no bound if one of them has none. */
export const plus = (one: Cu, other: Cu): Cu => (one === null || other === null ? null : one + other);

/** The cost of planned calls, and separately of those that are repeated every minute. */
export interface PlanSum {
  add(call: Pick<PlannedCall, 'per' | 'least' | 'most'>): void;
  readonly once: { readonly least: Cu; readonly most: Cu };
  /** Undefined if no call is repeated every minute. */
  readonly minute: { readonly least: Cu; readonly most: Cu } | undefined;
  /** Whether no planned call can cost anything. */
  readonly isFree: boolean;
}

/** Sums planned calls one by one, because a long input has more calls than fit in memory. */
export function createPlanSum(): PlanSum {
  let once: PlanSum['once'] = { least: 0, most: 0 };
  let minute: PlanSum['minute'];
  return {
    add({ per, least, most }) {
      const sum = per === undefined ? once : (minute ?? { least: 0, most: 0 });
      const more = { least: plus(sum.least, least), most: plus(sum.most, most) };
      if (per === undefined) once = more;
      else minute = more;
    },
    get once() {
      return once;
    },
    get minute() {
      return minute;
    },
    get isFree() {
      return once.most === 0 && (minute?.most ?? 0) === 0;
    },
  };
}

/**
 * The planned calls, then a record with their total and what is left. The fields of the total have names of
 * their own, so that a program can still sum `most` over all records.
 */
export async function* withTotal(
  calls: AsyncIterable<PlannedCall> | Iterable<PlannedCall>,
  left: () => Promise<number | null | undefined>,
): AsyncGenerator<PlannedCall | PlanTotal> {
  const sum = createPlanSum();
  for await (const call of calls) {
    sum.add(call);
    yield call;
  }
  const units = sum.isFree ? undefined : await left();
  yield {
    endpoint: 'total',
    totalLeast: sum.once.least,
    totalMost: sum.once.most,
    ...(sum.minute && { minuteLeast: sum.minute.least, minuteMost: sum.minute.most }),
    ...(units !== undefined && { left: units }),
  };
}
