/**
 * Counts the paid calls that were sent and not answered yet, so that a shutdown can wait for their
 * answers.
 */
export interface InFlight {
  /**
   * Counts a call, which ends within `timeoutMs` after a shutdown begins, until the returned
   * function is called.
   */
  begin(timeoutMs: number): () => void;
  /** Makes a shutdown wait for other work too, until the returned function is called. */
  hold(): () => void;
  readonly count: number;
  /** How long the counted calls can still take once a shutdown begins; 0 without calls. */
  leftMs(): number;
  /** Resolves when all counted calls and all other work have ended. */
  idle(): Promise<void>;
}

export function createInFlight(): InFlight {
  /** The timeout of each call; undefined for other work. */
  const open = new Map<symbol, number | undefined>();
  const waiting: (() => void)[] = [];
  const calls = () => [...open.values()].filter((timeoutMs) => timeoutMs !== undefined);
  const start = (timeoutMs: number | undefined) => {
    const id = Symbol();
    open.set(id, timeoutMs);
    return () => {
      open.delete(id);
      if (open.size === 0) for (const resolve of waiting.splice(0)) resolve();
    };
  };
  return {
    begin: start,
    hold: () => start(undefined),
    get count() {
      return calls().length;
    },
    leftMs: () => Math.max(0, ...calls()),
    async idle() {
      if (open.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
