import { gauge } from '../format/bars.ts';
import { grouped } from '../format/numbers.ts';
import { safeLine } from './safe-text.ts';

interface ProgressState {
  readonly done: number;
  readonly total?: number | undefined;
  readonly cu?: number | undefined;
  /** The rate limit of the key, if known, and the number of calls so far. */
  readonly pace?: { readonly perMinute: number | null; readonly calls: number } | undefined;
}

/**
 * Seconds as `42s`, `3m 20s` or `2h 5m`.
 * @internal Exported for tests.
 */
export function timeLeft(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}

/**
 * Estimates the remaining seconds. The rate limit lets the calls of the first minute pass at once, so the
 * speed of the first minute does not predict a longer run. After the first minute, the rate limit determines
 * the speed.
 * @internal Exported for tests.
 */
export function secondsLeft({ done, total = 0, pace }: ProgressState, elapsedMs: number): number {
  const byRate = ((total - done) * elapsedMs) / (done * 1000);
  const { perMinute = null, calls = 0 } = pace ?? {};
  if (perMinute === null || perMinute < 1) return byRate;
  const allCalls = Math.ceil((calls * total) / done);
  const byLimit = 60 * Math.floor((allCalls - 1) / perMinute) - elapsedMs / 1000;
  return Math.max(byRate, byLimit);
}

/**
 * The progress line: label, bar, count, rate, CU, remaining time. If the line is too long for the terminal,
 * parts are omitted.
 * @internal Exported for tests.
 */
export function barLine(
  label: string,
  state: ProgressState,
  elapsedMs: number,
  { width, unicode }: { readonly width: number; readonly unicode: boolean },
): string {
  const { done, total, cu } = state;
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const known = total !== undefined && total > 0;
  const parts = [
    safeLine(label),
    known ? gauge(done / total, 20, unicode) : '',
    known ? `${grouped(done)}/${grouped(total)}` : grouped(done),
    rate > 0 ? `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s` : '',
    cu === undefined ? '' : `${grouped(cu)} CU`,
    known && rate > 0 && done < total ? `${timeLeft(secondsLeft(state, elapsedMs))} left` : '',
  ].filter((part) => part !== '');
  const fits = () => parts.join('  ').length <= width;
  while (parts.length > 3 && !fits()) parts.pop();
  // If label, bar and count are still too long, omit the bar first, because the count is more informative.
  if (known && !fits()) parts.splice(1, 1);
  while (parts.length > 1 && !fits()) parts.pop();
  return parts.join('  ').slice(0, Math.max(0, width));
}

const UPDATE_INTERVAL = 100;

/**
 * The progress line of a run on a terminal. Nothing is shown before `delayMs` has passed, and the spinner is loaded
 * only then. `mono` is a monotonic clock in milliseconds.
 */
export function createProgress(
  stream: NodeJS.WriteStream,
  { color, unicode }: { readonly color: boolean; readonly unicode: boolean },
  mono: () => number,
  delayMs = 250,
) {
  const started = mono();
  let text = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let paused = false;
  let spinner: { text: string; stop(): unknown; start(): unknown } | undefined;

  const start = async () => {
    const { default: ora } = await import('ora');
    if (stopped || text === '') return;
    const made = ora({
      text,
      stream,
      isEnabled: true,
      // Do not let ora hide the cursor or read stdin: a killed process could not restore the cursor, and
      // stdin is the input of the program.
      hideCursor: false,
      discardStdin: false,
      color: color ? 'cyan' : false,
      spinner: unicode ? 'dots' : 'line',
    });
    spinner = made;
    if (!paused) made.start();
  };
  let timer: NodeJS.Timeout | undefined;
  const set = (next: string, now: number) => {
    text = next;
    shownAt = now;
    if (spinner) spinner.text = text;
    else timer ??= setTimeout(() => void start().catch(() => {}), delayMs).unref();
  };

  return {
    /** Shows what the run is doing or waiting for. */
    describe(next: string): void {
      if (!stopped) set(safeLine(next).slice(0, Math.max(1, (stream.columns || 80) - 3)), mono());
    },
    /** Shows a bar with the rate, the CU spent and the remaining time. */
    show(label: string, state: ProgressState): void {
      const now = mono();
      if (stopped || (now - shownAt < UPDATE_INTERVAL && state.done !== state.total)) return;
      set(barLine(label, state, now - started, { width: (stream.columns || 80) - 3, unicode }), now);
    },
    /** Hides the line until `resume` is called. */
    pause(): void {
      paused = true;
      spinner?.stop();
    },
    resume(): void {
      paused = false;
      if (!stopped) spinner?.start();
    },
    /** Removes the line permanently. Later calls have no effect. */
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      spinner?.stop();
      spinner = undefined;
    },
  };
}
