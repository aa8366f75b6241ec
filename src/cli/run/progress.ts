import { wantsUnicode } from '../../output/terminal/style.ts';
import type { Context } from './context.ts';
import type { Wait } from './wait-line.ts';

/** Shows how far a run has come while it waits. */
export interface ShownProgress {
  /** Says what the run waits for. */
  describe(text: string): void;
  /** Says how many of the total are done; the total may be unknown. */
  show(label: string, done: number, total: number | undefined): void;
  stop(): void;
}

/** The progress on one line of the terminal. */
class ProgressLine implements ShownProgress {
  readonly #context: Pick<Context, 'terminal' | 'bill'>;
  readonly #wait: Wait;
  readonly #layout: typeof import('../../output/terminal/progress.ts');
  readonly #started: number;

  constructor(
    context: Pick<Context, 'terminal' | 'bill'>,
    layout: typeof import('../../output/terminal/progress.ts'),
  ) {
    this.#context = context;
    this.#layout = layout;
    this.#wait = context.terminal.waits.begin();
    this.#started = context.terminal.io.clock.mono();
  }

  describe(text: string): void {
    this.#wait.say(() => text);
  }

  show(label: string, done: number, total: number | undefined): void {
    const { terminal, bill } = this.#context;
    const { clock, env, platform } = terminal.io;
    this.#wait.say((width) => {
      const state = { done, total, cu: bill.spent, pace: bill.pace };
      const form = { width, unicode: wantsUnicode(env, platform) };
      return this.#layout.barLine(label, state, clock.mono() - this.#started, form);
    });
  }

  stop(): void {
    this.#wait.end();
  }
}

const silent: ShownProgress = {
  describe() {},
  show() {},
  stop() {},
};

/** The progress of a run. Runs that show none do not load its layout. */
export async function openProgress(
  context: Pick<Context, 'terminal' | 'bill'>,
): Promise<ShownProgress> {
  if (!context.terminal.waits.isShown) return silent;
  return new ProgressLine(context, await import('../../output/terminal/progress.ts'));
}
