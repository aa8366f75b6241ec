import { wantsUnicode } from '../../output/terminal/style.ts';
import type { Context } from './context.ts';
import type { Wait } from './wait-line.ts';

/** How far a run has come, which it shows while it waits. */
class Progress {
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

const silent = {
  describe(_text: string) {},
  show(_label: string, _done: number, _total: number | undefined) {},
  stop() {},
};

/** The progress of a run. Runs that show none do not load its layout. */
export async function openProgress(
  context: Pick<Context, 'terminal' | 'bill'>,
): Promise<typeof silent> {
  if (!context.terminal.waits.isShown) return silent;
  return new Progress(context, await import('../../output/terminal/progress.ts'));
}
