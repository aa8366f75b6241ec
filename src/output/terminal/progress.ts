import { bar } from '../format/bars.ts';
import { grouped } from '../format/numbers.ts';
import { safeLine } from './safe-text.ts';

/** How far a long piece of work has come. */
export interface ProgressState {
  readonly done: number;
  /** Absent if the total is unknown. */
  readonly total?: number | undefined;
  /** Units spent so far. */
  readonly cu?: number | undefined;
}

/** A progress line on the terminal. */
export interface Progress {
  /** Says what is being done, or waited for. */
  say(text: string): void;
  /** Shows a bar with rate, units spent and time to go. */
  show(label: string, standing: ProgressState): void;
  /** Takes the line away; nothing is shown from here on. */
  stop(): void;
}

/** The parts of a terminal's stream that progress needs. */
type TerminalStream = NodeJS.WriteStream;

export interface ProgressOptions {
  readonly stream: TerminalStream;
  readonly color: boolean;
  readonly unicode: boolean;
  /** Milliseconds that only ever grow. */
  readonly mono: () => number;
  /** What takes less time than this shows nothing; 250 ms unless set. */
  readonly delayMs?: number;
}

/** Seconds as `42s`, `3m 20s` or `2h 5m`. */
export function timeLeft(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}

/** The line of a bar, cut from the right until it fits: label, bar, count, rate, units, time to go. */
export function barLine(
  label: string,
  { done, total, cu }: ProgressState,
  elapsedMs: number,
  { width, unicode }: { readonly width: number; readonly unicode: boolean },
): string {
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const known = total !== undefined && total > 0;
  const parts = [
    safeLine(label),
    known ? bar(done / total, 20, unicode) : '',
    known ? `${grouped(done)}/${grouped(total)}` : grouped(done),
    rate > 0 ? `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s` : '',
    cu === undefined ? '' : `${grouped(cu)} CU`,
    known && rate > 0 && done < total ? `${timeLeft((total - done) / rate)} left` : '',
  ].filter((part) => part !== '');
  const fits = () => parts.join('  ').length <= width;
  while (parts.length > 3 && !fits()) parts.pop();
  // The count says more than the bar does.
  if (known && !fits()) parts.splice(1, 1);
  while (parts.length > 1 && !fits()) parts.pop();
  return parts.join('  ').slice(0, Math.max(0, width));
}

/** How often the line may change: more would only cost time. */
const TICK = 100;

/** The progress line of a run. What draws it is loaded when something takes long enough to be looked at. */
export function createProgress(options: ProgressOptions): Progress {
  const { stream, color, unicode, mono } = options;
  const started = mono();
  let text = '';
  let shownAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let spinner: { text: string; stop(): unknown } | undefined;

  const wake = async () => {
    const { default: ora } = await import('ora');
    if (stopped || text === '') return;
    spinner = ora({
      text,
      stream,
      isEnabled: true,
      // Both would outlive the line where the process is killed, and the keyboard is not ours.
      hideCursor: false,
      discardStdin: false,
      color: color ? 'cyan' : false,
      spinner: unicode ? 'dots' : 'line',
    }).start();
  };
  let timer: NodeJS.Timeout | undefined;
  const set = (next: string, now: number) => {
    text = next;
    shownAt = now;
    if (spinner) spinner.text = text;
    else timer ??= setTimeout(() => void wake().catch(() => {}), options.delayMs ?? 250).unref();
  };

  return {
    say(next) {
      if (!stopped) set(safeLine(next).slice(0, Math.max(1, (stream.columns || 80) - 3)), mono());
    },
    show(label, standing) {
      const now = mono();
      if (stopped || (now - shownAt < TICK && standing.done !== standing.total)) return;
      set(barLine(label, standing, now - started, { width: (stream.columns || 80) - 3, unicode }), now);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      spinner?.stop();
      spinner = undefined;
    },
  };
}
