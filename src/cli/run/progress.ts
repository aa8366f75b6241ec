import { wantsUnicode } from '../../output/terminal/style.ts';
import type { Context } from './context.ts';
import type { Wait } from './wait-line.ts';

type Layout = typeof import('../../output/terminal/progress.ts');

/** Shows on one line of the terminal how far a run has come while it waits. */
export class ShownProgress {
  readonly #context: Pick<Context, 'terminal' | 'bill'>;
  readonly #wait: Wait;
  /** Undefined if the line is not shown. */
  readonly #layout: Layout | undefined;
  readonly #started: number;

  constructor(context: Pick<Context, 'terminal' | 'bill'>, layout: Layout | undefined) {
    this.#context = context;
    this.#layout = layout;
    this.#wait = context.terminal.waits.begin();
    this.#started = context.terminal.io.clock.mono();
  }

  /** Says what the run waits for. */
  describe(text: string): void {
    this.#wait.say(() => text);
  }

  /** Says how many of the total are done; the total may be unknown. */
  show(label: string, done: number, total: number | undefined): void {
    const layout = this.#layout;
    if (layout === undefined) return;
    const { terminal, bill } = this.#context;
    const { clock, env, platform } = terminal.io;
    this.#wait.say((width) => {
      const state = { done, total, cu: bill.spent, pace: bill.pace };
      const form = { width, unicode: wantsUnicode(env, platform) };
      return layout.barLine(label, state, clock.mono() - this.#started, form);
    });
  }

  stop(): void {
    this.#wait.end();
  }
}

/** The progress of a run. Runs that show none do not load its layout. */
export async function openProgress(
  context: Pick<Context, 'terminal' | 'bill'>,
): Promise<ShownProgress> {
  const { isShown } = context.terminal.waits;
  const layout = isShown ? await import('../../output/terminal/progress.ts') : undefined;
  return new ShownProgress(context, layout);
}
