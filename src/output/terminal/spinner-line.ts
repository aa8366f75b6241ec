import ora, { type Ora } from 'ora';
import { redrawnLine, widthFor } from './status-line.ts';

/** The text of a frame, laid out for this many columns. */
export type SpinnerText = (width: number) => string;

/** The frame of the spinner and the two blanks that follow it. */
const SPINNER = 3;

/** A line with a spinner, drawn by ora. */
export class SpinnerLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #spinner: Ora;
  #text: SpinnerText | undefined;

  constructor(stream: NodeJS.WriteStream, unicode: boolean) {
    this.#stream = stream;
    stream.on('resize', this.#onResize);
    this.#spinner = ora({
      stream,
      spinner: unicode ? 'dots' : 'line',
      // ora calls this for each frame, so that the line is laid out ten times a second and not for
      // each row.
      suffixText: () => redrawnLine(this.#text?.(this.#width) ?? '', this.#width, unicode),
      color: false,
      // A kill would leave the cursor hidden.
      hideCursor: false,
      // It would read the answers to questions, and Ctrl-C.
      discardStdin: false,
      // `WaitLine` has decided, by the environment of the run and not of the process.
      isEnabled: true,
    });
  }

  /**
   * The line is not drawn on a terminal without a width, such as that of `script` in a job: ora
   * would clear lines without end.
   */
  draw(text: SpinnerText): void {
    this.#text = text;
    if (this.#stream.columns && !this.#spinner.isSpinning) this.#spinner.start();
  }

  clear(): void {
    this.#text = undefined;
    if (this.#spinner.isSpinning) this.#spinner.stop();
  }

  close(): void {
    this.#stream.off('resize', this.#onResize);
    this.clear();
  }

  get #width(): number {
    return widthFor(this.#stream) - SPINNER;
  }

  readonly #onResize = (): void => {
    if (!this.#stream.columns) this.#spinner.stop();
    else if (this.#text) this.draw(this.#text);
  };
}
