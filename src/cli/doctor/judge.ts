import { Failure } from '../../base/failure.ts';
import { known, type Sent } from '../../contract/known.ts';
import { Me, readAccount } from '../../contract/records/account.ts';
import { isMeterKnown, type Left, leftOf } from '../../core/account.ts';
import type { Difference } from '../../core/drift.ts';
import { span } from '../../output/format/time.ts';
import type { SeenDifference } from '../../state/answer-differences.ts';
import { countText, unitsText } from '../spend/estimate.ts';
import { type Check, fail, passed, skip, warn } from './check.ts';

/** A Date header tells whole seconds, and was written somewhere between question and answer. */
const UNSURE_MS = 1_000;
/** What waits told as a date can bear. */
const SKEW_MS = 30_000;
/** Less than this of a meter's whole is worth a word. */
const LITTLE = 0.05;

/** The service's clock against ours. */
export function judgeClock(date: string | undefined, askedAt: number, answeredAt: number): Check {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return skip('clock', 'the service does not tell its time');
  const [earliest, latest] = [askedAt - UNSURE_MS, answeredAt + UNSURE_MS];
  const off = theirs < earliest ? earliest - theirs : theirs > latest ? latest - theirs : 0;
  if (Math.abs(off) <= SKEW_MS)
    return passed('clock', off === 0 ? 'agrees' : `off by ${span(off)}, which is harmless`);
  return warn(
    'clock',
    `this machine is ${span(off)} ${off > 0 ? 'ahead of' : 'behind'} the service`,
    'set the clock: ages such as --since 2h, and how long answers are kept, go by it',
  );
}

/** What the key may still do. */
export function judgeLimits(record: Sent): Check {
  const me = known(Me, record);
  const { ratePerMinute } = readAccount(record);
  const { units, reveals } = leftOf(me);
  const without = (meter: keyof Left) => (isMeterKnown(me, meter) ? 'without a cap' : 'not reported');
  const detail = [
    ratePerMinute === null ? 'rate not told' : `${countText(ratePerMinute, 'request')} a minute`,
    units === null ? `units ${without('units')}` : `${unitsText(units)} left`,
    reveals === null ? `reveals ${without('reveals')}` : `${countText(reveals, 'wallet reveal')} left`,
  ].join(', ');
  if (units === 0 || reveals === 0) {
    return fail(
      'limits',
      new Failure('quota', detail, {
        code: 'QUOTA_EXCEEDED',
        hint:
          units === 0
            ? 'top up, or wait for the UTC month to turn'
            : 'reveals come back with the UTC month; top-ups do not lift them',
      }),
    );
  }
  const share = (left: number | null, used = 0) => (left === null ? 1 : left / Math.max(1, left + used));
  const { unitsUsed, revealsUsed } = me.usage ?? {};
  const low = Math.min(share(units, unitsUsed), share(reveals, revealsUsed)) < LITTLE;
  return low ? warn('limits', detail, 'little is left: see trdr me') : passed('limits', detail);
}

/** How the service differs from what this trdr was built for, a check for each difference. */
export function judgeDrift(differences: readonly Difference[]): Check[] {
  if (differences.length === 0) return [passed('drift', 'the service is what this trdr was built for')];
  return differences.map(({ what, how, call, text, breaks }) => {
    const detail = `${call}: ${what === 'endpoint' ? `the endpoint ${text}` : text}`;
    if (breaks) {
      return fail(
        'drift',
        new Failure('answer', detail, {
          code: 'DRIFT',
          hint: 'upgrade trdr; until then this call may be refused, or its answer not be read',
        }),
      );
    }
    if (how === 'came') return passed('drift', detail);
    return warn('drift', detail, 'upgrade trdr when there is a newer one');
  });
}

/** How answers of the last weeks differed from their description, a check for each field. */
export const judgeAnswers = (seen: readonly SeenDifference[], now: number): Check[] =>
  seen.map(({ call, text, time }) =>
    warn(
      'answers',
      `${call}: ${text} (seen ${span(Math.max(0, now - time))} ago)`,
      'delivered as it came; tables and sorting treat the field as absent',
    ),
  );
