const PAUSE_MS = 60_000;
const LONGEST_MS = 3_600_000;

/** Limits notices that a failing service or command can cause without end. The first of each kind are always shown. */
export function createNoticeLimit<Kind extends string>(
  mono: () => number,
  repeated: ReadonlySet<Kind>,
  first = 5,
) {
  const begin = () => ({ shown: 0, suppressed: 0, last: '', next: 0, pause: PAUSE_MS });
  const kinds = new Map<Kind, ReturnType<typeof begin>>();
  return {
    /** Returns the text to print; undefined if the notice is suppressed. */
    show(kind: Kind, text: string): string | undefined {
      if (!repeated.has(kind)) return text;
      const state = kinds.get(kind) ?? begin();
      kinds.set(kind, state);
      const now = mono();
      if (state.shown >= first && now < state.next) {
        state.suppressed++;
        state.last = text;
        return undefined;
      }
      state.shown++;
      const more = state.suppressed === 0 ? '' : ` (and ${state.suppressed} more like this)`;
      state.suppressed = 0;
      if (state.shown >= first) {
        // After a long time without notices, start again with the shortest pause.
        if (now > state.next + state.pause && state.shown > first) state.pause = PAUSE_MS;
        state.next = now + state.pause;
        state.pause = Math.min(LONGEST_MS, state.pause * 2);
      }
      return `${text}${more}`;
    },
    /** Returns a line for each kind of suppressed notices: its last notice, and how many more there were. */
    rest(): string[] {
      const suppressed = [...kinds.values()].filter((state) => state.suppressed > 0);
      return suppressed.map((state) => {
        const more = state.suppressed - 1;
        state.suppressed = 0;
        return more === 0 ? state.last : `${state.last} (and ${more} more like this)`;
      });
    },
  };
}
