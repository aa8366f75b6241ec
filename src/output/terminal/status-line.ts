import type { Writable } from 'node:stream';
import { gauge, grouped } from '../format/format-cell.ts';
import { lengthText } from '../format/time.ts';
import { asciiOnly, safeLine } from './safe-text.ts';
import { truncate } from './width.ts';

const CLEAR = '\r\x1b[2K';
/** A terminal echoes ^C after the line, and a line that wraps cannot be cleared. */
const SPARE = 5;

/** Hidden while rows are written. Not enabled if stderr is not a terminal, or with --quiet. */
export function createStatusLine(
  stream: Writable & { readonly columns?: number },
  enabled: boolean,
  unicode: boolean,
) {
  let shown = false;
  return {
    show(text: string): void {
      if (!enabled) return;
      const line = unicode ? safeLine(text) : asciiOnly(safeLine(text));
      const width = Math.max(10, (stream.columns || 80) - SPARE);
      stream.write(`${CLEAR}${truncate(line, width, unicode ? '…' : '...')}`);
      shown = true;
    },
    hide(): void {
      if (shown) stream.write(CLEAR);
      shown = false;
    },
  };
}

interface ProgressState {
  readonly done: number;
  readonly total?: number | undefined;
  readonly cu?: number | undefined;
  readonly pace?: { readonly perMinute: number | null; readonly calls: number } | undefined;
}

/** The calls of the first minute pass at once, so their speed predicts no longer run. @internal Exported for tests. */
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
    known && rate > 0 && done < total
      ? `${lengthText(secondsLeft(state, elapsedMs) * 1_000)} left`
      : '',
  ].filter((part) => part !== '');
  const fits = () => parts.join('  ').length <= width;
  while (parts.length > 3 && !fits()) parts.pop();
  if (known && !fits()) parts.splice(1, 1);
  while (parts.length > 1 && !fits()) parts.pop();
  return parts.join('  ').slice(0, Math.max(0, width));
}

const INTERVAL = 100;
const SPINNER = 2;

/** A line with a spinner, after `delayMs`. */
export function createProgress(
  stream: NodeJS.WriteStream,
  unicode: boolean,
  mono: () => number,
  delayMs = 250,
) {
  const line = createStatusLine(stream, true, unicode);
  const frames = unicode ? '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏' : '-\\|/';
  const started = mono();
  let text: (() => string) | undefined;
  let isPaused = false;
  let frame = 0;
  const draw = () => {
    if (text && !isPaused) line.show(`${frames[frame++ % frames.length]} ${text()}`);
  };
  let timer = setTimeout(() => {
    timer = setInterval(draw, INTERVAL).unref();
    draw();
  }, delayMs).unref();
  const pause = () => {
    isPaused = true;
    line.hide();
  };
  return {
    describe(next: string): void {
      text = () => next;
    },
    show(label: string, state: ProgressState): void {
      const width = (stream.columns || 80) - SPARE - SPINNER;
      text = () => barLine(label, state, mono() - started, { width, unicode });
    },
    pause,
    resume(): void {
      isPaused = false;
    },
    stop(): void {
      clearTimeout(timer);
      pause();
    },
  };
}
