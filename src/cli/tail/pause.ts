import type { Context } from '../context.ts';

/** Delays the rows and the status line of a tail while a question is open on the same terminal. */
interface Pause {
  readonly isOpen: boolean;
  /** A promise that resolves when rows may be printed; undefined if they may be printed now. */
  wait(): Promise<void> | undefined;
  end(): void;
}

export function createPause({ io, globals, display }: Context, hide: () => void): Pause {
  const isShared = io.stdout.isTTY === true && globals.out === undefined;
  let open: { readonly over: Promise<void>; readonly resume: () => void } | undefined;
  const end = display({
    hide() {
      hide();
      let resume = () => {};
      const over = new Promise<void>((resolve) => {
        resume = resolve;
      });
      open = { over, resume };
    },
    show() {
      open?.resume();
      open = undefined;
    },
  });
  return {
    get isOpen() {
      return open !== undefined;
    },
    wait: () => (isShared ? open?.over : undefined),
    end,
  };
}
