import { checkHintOf, Failure } from '../../base/failure.ts';
import { countText, unitsText } from '../../base/units.ts';
import type { MeterName } from '../../contract/ports/client.ts';
import { known, type Sent } from '../../contract/read-record.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import type { CheckRecord } from '../../contract/records/tool.ts';
import { isMeterKnown, leftOf, untilRenewal } from '../../core/account.ts';
import type { ApiDifference } from '../../core/compare-descriptions.ts';
import { span } from '../../output/format/time.ts';
import type { SeenDifference } from '../../state/seen-differences.ts';
import { type ExitCode, exitOf } from '../exit.ts';
import { clockLead } from '../lookup/service-time.ts';

/** `exit` is 0 unless the check has failed. */
export interface Check {
  readonly record: CheckRecord;
  readonly exit: ExitCode;
}

const made =
  (verdict: CheckRecord['verdict'], exit: ExitCode = 0) =>
  (check: string, detail: string, next?: string): Check => ({
    record: { check, verdict, detail, ...(next && { next }) },
    exit,
  });

export const passed = made('ok');
export const warn = made('warn');
export const skip = made('skip');

export const failedCheck = (check: string, failure: Failure): Check =>
  made('fail', exitOf[failure.kind])(check, failure.message, checkHintOf(failure));

export async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

const SKEW_MS = 30_000;
const LITTLE = 0.05;

export function judgeClock(date: string | undefined, askedAt: number, answeredAt: number): Check {
  const off = clockLead(date, askedAt, answeredAt);
  if (off === undefined) return skip('clock', 'the service does not report its time');
  if (Math.abs(off) <= SKEW_MS)
    return passed(
      'clock',
      off === 0 ? 'clock in sync' : `off by ${span(off)}, which has no effect`,
    );
  return warn(
    'clock',
    `this machine is ${span(off)} ${off > 0 ? 'ahead of' : 'behind'} the service`,
    'set the clock of this machine: the cache and budgets depend on it',
  );
}

export function judgeLimits(record: Sent): Check {
  const me = known(Me, record);
  const { ratePerMinute } = readAccount(record);
  const left = leftOf(me);
  const { units, reveals } = left;
  const without = (meter: MeterName) => (isMeterKnown(me, meter) ? 'unlimited' : 'not reported');
  const detail = [
    ratePerMinute === null
      ? 'rate limit not reported'
      : `${countText(ratePerMinute, 'request')}/min`,
    units === null ? `units ${without('units')}` : `${unitsText(units)} left`,
    reveals === null
      ? `reveals ${without('reveals')}`
      : `${countText(reveals, 'wallet reveal')} left`,
  ].join(', ');
  if (units === 0 || reveals === 0) {
    const next =
      units === 0
        ? `top up, ${untilRenewal(left)}`
        : 'wait until the UTC month ends; top-ups do not add reveals';
    return made('fail', exitOf.quota)('limits', detail, next);
  }
  const share = (left: number | null, used = 0) =>
    left === null ? 1 : left / Math.max(1, left + used);
  const { unitsUsed, revealsUsed } = me.usage ?? {};
  const low = Math.min(share(units, unitsUsed), share(reveals, revealsUsed)) < LITTLE;
  return low
    ? warn('limits', detail, 'run "trdr me" for details: less than 5% of an allowance is left')
    : passed('limits', detail);
}

/** One check for each difference between the service's API and the one that trdr was built for. */
export function judgeDrift(differences: readonly ApiDifference[]): Check[] {
  if (differences.length === 0) return [passed('drift', 'API matches this version of trdr')];
  return differences.map(({ path, described = 'nothing', found = 'nothing', breaks }) => {
    const detail = `${path}: described ${described}, found ${found}`;
    if (breaks)
      return made('fail', exitOf.answer)(
        'drift',
        detail,
        'upgrade trdr; until then this call may fail',
      );
    if (described === 'nothing') return passed('drift', detail);
    return warn('drift', detail, 'upgrade trdr if there is a newer version');
  });
}

export const judgeAnswers = (seen: readonly SeenDifference[], now: number): Check[] =>
  seen.map(({ call, text, time }) =>
    warn(
      'answers',
      `${call}: ${text} (seen ${span(Math.max(0, now - time))} ago)`,
      text.endsWith(' is missing')
        ? 'do not sort or filter by this field'
        : 'use JSON, NDJSON, CSV or TSV to see the original value; sorting and filters treat it as missing',
    ),
  );
