import type { Clock } from '../../base/clock.ts';

/** Ends a run after its `--duration`, unless it ends earlier. */
export function endAfter(
  clock: Clock,
  durationMs: number | undefined,
  run: AbortController,
  until: AbortSignal,
): void {
  if (durationMs === undefined) return;
  clock.sleep(durationMs, until).then(
    () => run.abort(),
    () => {},
  );
}
