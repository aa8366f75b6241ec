import { gauge } from '../format/bars.ts';
import { grouped } from '../format/numbers.ts';
import { lengthText } from '../format/time.ts';
import { safeLine } from './safe-text.ts';

interface ProgressState {
  readonly done: number;
  readonly total?: number | undefined;
  readonly cu?: number | undefined;
  readonly pace?: { readonly perMinute: number | null; readonly calls: number } | undefined;
}

/**
 * The first minute's calls pass at once, so their speed predicts no longer run. @internal Exported for tests.
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
  const known = total !== undefined && total > 0;
  const parts = [
    safeLine(label),
    known ? gauge(done / total, 20, unicode) : '',
    known ? `${grouped(done)}/${grouped(total)}` : grouped(done),
    rate > 0 ? `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s` : '',
    cu === undefined ? '' : `${grouped(cu)} CU`,
    known && rate > 0 && done < total ? `${lengthText(secondsLeft(state, elapsedMs) * 1_000)} left` : '',
  ].filter((part) => part !== '');
  const fits = () => parts.join('  ').length <= width;
  while (parts.length > 3 && !fits()) parts.pop();
  if (known && !fits()) parts.splice(1, 1);
  while (parts.length > 1 && !fits()) parts.pop();
  return parts.join('  ').slice(0, Math.max(0, width));
}

const UPDATE_INTERVAL = 100;

/** Shows nothing before `delayMs`, and loads the spinner only then. */
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
      // A killed process could not restore the cursor, and stdin is the input of the program.
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
    describe(next: string): void {
      if (!stopped) set(safeLine(next).slice(0, Math.max(1, (stream.columns || 80) - 3)), mono());
    },
    show(label: string, state: ProgressState): void {
      const now = mono();
      if (stopped || (now - shownAt < UPDATE_INTERVAL && state.done !== state.total)) return;
      set(barLine(label, state, now - started, { width: (stream.columns || 80) - 3, unicode }), now);
    },
    pause(): void {
      paused = true;
      spinner?.stop();
    },
    resume(): void {
      paused = false;
      if (!stopped) spinner?.start();
    },
    /** Later calls have no effect. */
    stop(): void {
      stopped = true;
      clearTimeout(timer);
      spinner?.stop();
      spinner = undefined;
    },
  };
}
