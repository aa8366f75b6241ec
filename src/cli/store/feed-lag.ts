import { Failure } from '../../base/failure.ts';
import type { StatusItem } from '../../store/status.ts';

/** The failure of a probe with `--max-lag`: a feed has no leader, or was last verified too long ago or never. */
export function feedLagFailure(items: readonly StatusItem[], maxLagMs: number): Failure | undefined {
  const late = items.find(
    ({ item, lag }) => item === 'feed' && !(typeof lag === 'number' && lag <= maxLagMs),
  );
  if (!late) return undefined;
  if (late['leader'] === null)
    return new Failure('network', `feed ${late.name}: no leader`, {
      code: 'STORE_LAG',
      hint: 'start a relay: trdr thesis relay',
    });
  const why = late['lag'] === null ? 'not verified yet' : 'last verified longer ago than --max-lag allows';
  return new Failure('network', `feed ${late.name}: ${why}`, {
    code: 'STORE_LAG',
    hint: 'to see why, read the stderr of the relay that leads this feed',
  });
}
