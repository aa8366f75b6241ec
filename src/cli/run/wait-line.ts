import type { WriteStream } from 'node:tty';
import type { SpinnerLine, SpinnerText } from '../../output/terminal/spinner-line.ts';
import { canRedraw, wantsUnicode } from '../../output/terminal/style.ts';
import { isOn } from '../agent.ts';
import type { Io } from '../io.ts';

/** A shorter wait shows nothing, and does not load what draws the line. */
const MOMENT_MS = 1_000;
/** Calls that follow each other as closely are one wait to a person. */
const SAME_WAIT_MS = 100;
const NEWLINE = 0x0a;

/** Something that a run waits for. */
export interface Wait {
  /** Shows another text; it is called for each frame. */
  say(text: SpinnerText): void;
  end(): void;
}

/**
 * The line on stderr that says what a run waits for. There is one, because several would overwrite
 * each other: it shows the first open wait, which is the outermost. It appears only to a person, on
 * a terminal that can redraw it, and only after a moment without any output.
 */
export class WaitLine {
  readonly #io: Io;
  /** Whether a person sees the line at all. */
  readonly isShown: boolean;
  readonly #waits = new Set<{ text: SpinnerText | undefined }>();
  #line: SpinnerLine | undefined;
  #loading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Since when nothing was printed while the run waited. */
  #quietSince = 0;
  #endedAt = Number.NEGATIVE_INFINITY;
  /** How many questions and commands have the terminal for themselves. */
  #asides = 0;
  /** Whether the last output ended within a line, which the spinner would clear. */
  #isMidLine = false;

  constructor(io: Io, isAllowed: boolean) {
    this.#io = io;
    this.isShown = isAllowed && canRedraw(io.stderr, io.env) && !isOn(io.env['CI']);
  }

  /** Says that the run waits, until `end` is called. */
  begin(text?: SpinnerText): Wait {
    if (!this.isShown) return unshown;
    const wait = { text };
    const now = this.#io.clock.mono();
    if (this.#waits.size === 0 && now - this.#endedAt > SAME_WAIT_MS) this.#quietSince = now;
    this.#waits.add(wait);
    this.#update();
    return {
      say: (next) => {
        wait.text = next;
        this.#update();
      },
      end: () => {
        if (!this.#waits.delete(wait)) return;
        this.#endedAt = this.#io.clock.mono();
        this.#update();
      },
    };
  }

  async during<T>(text: SpinnerText, act: () => Promise<T>): Promise<T> {
    const wait = this.begin(text);
    try {
      return await act();
    } finally {
      wait.end();
    }
  }

  /** Gives the terminal to a question, or to a command that may ask one. */
  async aside<T>(act: () => Promise<T>): Promise<T> {
    this.#asides++;
    this.#update();
    try {
      return await act();
    } finally {
      this.#asides--;
      this.#update();
    }
  }

  /** Clears the line right before output is written to the same terminal. */
  readonly beforeOutput = (bytes: Uint8Array): void => {
    if (!this.isShown) return;
    this.#isMidLine = bytes.at(-1) !== NEWLINE;
    this.#quietSince = this.#io.clock.mono();
    this.#update();
  };

  /**
   * Clears the line for good. A second Ctrl-C would leave it in front of the prompt of the shell.
   */
  readonly close = (): void => {
    this.#waits.clear();
    this.#update();
    this.#line?.close();
    this.#io.atExit.delete(this.close);
  };

  #update(): void {
    const text = this.#text();
    const dueMs = this.#quietSince + MOMENT_MS - this.#io.clock.mono();
    if (text === undefined || dueMs > 0) this.#line?.clear();
    if (text === undefined) this.#disarm();
    else if (dueMs > 0) this.#arm(dueMs);
    else if (this.#line) this.#line.draw(text);
    else this.#loading ??= this.#load();
  }

  #text(): SpinnerText | undefined {
    if (this.#asides > 0 || this.#isMidLine) return undefined;
    for (const { text } of this.#waits) if (text) return text;
    return undefined;
  }

  #arm(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#disarm();
      this.#update();
    }, ms).unref();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #load(): Promise<void> {
    const { SpinnerLine } = await import('../../output/terminal/spinner-line.ts');
    const { stderr, env, platform } = this.#io;
    this.#line = new SpinnerLine(stderr as WriteStream, wantsUnicode(env, platform));
    this.#io.atExit.add(this.close);
    this.#update();
  }
}

const unshown: Wait = { say() {}, end() {} };
