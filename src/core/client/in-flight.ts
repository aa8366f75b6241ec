/** Counts the paid calls that were sent and not answered yet, so that a shutdown can wait for their answers. */
export type InFlight = ReturnType<typeof createInFlight>;

export function createInFlight() {
  const calls = new Map<symbol, number>();
  const holds = new Set<symbol>();
  const waiting: (() => void)[] = [];
  const look = () => {
    if (calls.size > 0 || holds.size > 0) return;
    for (const resolve of waiting.splice(0)) resolve();
  };
  return {
    /** Counts a call, which ends within `timeoutMs` after a shutdown begins, until the returned function is called. */
    begin(timeoutMs: number): () => void {
      const id = Symbol();
      calls.set(id, timeoutMs);
      return () => {
        calls.delete(id);
        look();
      };
    },
    /** Makes a shutdown wait for other work too, until the returned function is called. */
    hold(): () => void {
      const id = Symbol();
      holds.add(id);
      return () => {
        holds.delete(id);
        look();
      };
    },
    get count(): number {
      return calls.size;
    },
    /** How long the counted calls can still take once a shutdown begins; 0 without calls. */
    leftMs: (): number => Math.max(0, ...calls.values()),
    async idle(): Promise<void> {
      if (calls.size > 0 || holds.size > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
