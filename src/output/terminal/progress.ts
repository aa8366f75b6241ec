import { gauge, grouped } from '../format/format-cell.ts';
import { lengthText } from '../format/time.ts';
import { safeLine } from './safe-text.ts';

interface ProgressState {
  readonly done: number;
  readonly total?: number | undefined;
  readonly cu?: number | undefined;
  readonly pace?: { readonly perMinute: number | null; readonly calls: number } | undefined;
}

/**
 * The calls of the first minute pass at once, so their speed predicts no longer run. @internal
 * Exported for tests.
 */
export function secondsLeft({ done, total = 0, pace }: ProgressState, elapsedMs: number): number {
  const byRate = ((total - done) * elapsedMs) / (done * 1000);
  const { perMinute = null, calls = 0 } = pace ?? {};
  if (perMinute === null || perMinute < 1) return byRate;
  const allCalls = Math.ceil((calls * total) / done);
  const byLimit = 60 * Math.floor((allCalls - 1) / perMinute) - elapsedMs / 1000;
  return Math.max(byRate, byLimit);
}

/** Parts are omitted if the line is too long. @internal Exported for tests. */
export function barLine(
  label: string,
  state: ProgressState,
  elapsedMs: number,
  { width, unicode }: { readonly width: number; readonly unicode: boolean },
): string {
  const { done, total, cu } = state;
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const hasTotal = total !== undefined && total > 0;
  const parts = [
    safeLine(label),
    hasTotal ? gauge(done / total, 20, unicode) : '',
    hasTotal ? `${grouped(done)}/${grouped(total)}` : grouped(done),
    rate > 0 ? `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s` : '',
    cu === undefined ? '' : `${grouped(cu)} CU`,
    hasTotal && rate > 0 && done < total
      ? `${lengthText(secondsLeft(state, elapsedMs) * 1_000)} left`
      : '',
  ].filter((part) => part !== '');
  const fits = () => parts.join('  ').length <= width;
  while (parts.length > 3 && !fits()) parts.pop();
  if (hasTotal && !fits()) parts.splice(1, 1);
  while (parts.length > 1 && !fits()) parts.pop();
  return parts.join('  ').slice(0, Math.max(0, width));
}
