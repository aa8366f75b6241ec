import { Failure } from '../../base/failure.ts';
import type { StatusItem } from '../../store/status.ts';

/** The failure of `store status --max-lag`, for the first feed that was not verified in time. */
export function feedLagFailure(
  items: readonly StatusItem[],
  maxLagMs: number,
): Failure | undefined {
  const late = items.find(
    ({ item, lag }) => item === 'feed' && !(typeof lag === 'number' && lag <= maxLagMs),
  );
  if (!late) return undefined;
  const isLed = late['leader'] !== null;
  const lag =
    late['lag'] === null ? 'not verified yet' : 'last verified longer ago than --max-lag allows';
  const hint = isLed
    ? 'to see why, read the stderr of the relay that leads this feed'
    : 'start a relay: trdr thesis relay';
  return new Failure('network', `feed ${late.name}: ${isLed ? lag : 'no leader'}`, {
    code: 'STORE_LAG',
    hint,
  });
}
