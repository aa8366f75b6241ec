import type { Ora } from 'ora';
import { gauge, grouped } from '../format/format-cell.ts';
import { lengthText } from '../format/time.ts';
import { safeLine } from './safe-text.ts';
import { redrawnLine, widthFor } from './status-line.ts';

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

/** ora's frame and the two blanks that follow it. */
const SPINNER = 3;

/** A line with a spinner, which appears after a delay, so that a short wait shows nothing and does not load ora. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #unicode: boolean;
  readonly #mono: () => number;
  readonly #started: number;
  readonly #delay: NodeJS.Timeout;
  #text: (() => string) | undefined;
  #spinner: Ora | undefined;
  #isPaused = false;
  #isStopped = false;

  constructor(stream: NodeJS.WriteStream, unicode: boolean, mono: () => number, delayMs: number) {
    this.#stream = stream;
    this.#unicode = unicode;
    this.#mono = mono;
    this.#started = mono();
    this.#delay = setTimeout(() => void this.#load(), delayMs).unref();
  }

  describe(text: string): void {
    this.#text = () => text;
    this.#spin();
  }

  show(label: string, state: ProgressState): void {
    this.#text = () =>
      barLine(label, state, this.#mono() - this.#started, {
        width: this.#width,
        unicode: this.#unicode,
      });
    this.#spin();
  }

  /** Hides the line, for example during a question. */
  pause(): void {
    this.#isPaused = true;
    this.#spinner?.stop();
  }

  resume(): void {
    this.#isPaused = false;
    this.#spin();
  }

  stop(): void {
    clearTimeout(this.#delay);
    this.#stream.off('resize', this.#onResize);
    this.#isStopped = true;
    this.#spinner?.stop();
  }

  get #width(): number {
    return widthFor(this.#stream) - SPINNER;
  }

  async #load(): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.#isStopped) return;
    this.#stream.on('resize', this.#onResize);
    this.#spinner = ora({
      stream: this.#stream,
      spinner: this.#unicode ? 'dots' : 'line',
      // ora calls this for each frame, so that the line is laid out ten times a second and not for each row.
      suffixText: () => redrawnLine(this.#text?.() ?? '', this.#width, this.#unicode),
      color: false,
      // A kill would leave the cursor hidden.
      hideCursor: false,
      // It would read the answers to questions, and Ctrl-C.
      discardStdin: false,
      // `openProgress` has decided, by the environment of the run and not of the process.
      isEnabled: true,
    });
    this.#spin();
  }

  /** The line is not drawn on a terminal without a width, such as that of `script` in a job: ora would clear lines without end. */
  #spin(): void {
    if (this.#isPaused || this.#isStopped || !this.#text || !this.#stream.columns) return;
    this.#spinner?.start();
  }

  readonly #onResize = (): void => {
    if (this.#stream.columns) this.#spin();
    else this.#spinner?.stop();
  };
}
