const PAUSE_MS = 60_000;
const LONGEST_MS = 3_600_000;

export interface NoticeLimit<Kind extends string> {
  /** Returns the text to print; undefined if the notice is suppressed. */
  show(kind: Kind, text: string): string | undefined;
  /**
   * Returns a line for each kind of suppressed notices: its last notice, and how many more there
   * were.
   */
  rest(): string[];
}

/**
 * A failing service or command can cause notices without end, so later ones are shown at growing
 * intervals.
 */
export function createNoticeLimit<Kind extends string>(
  mono: () => number,
  repeated: ReadonlySet<Kind>,
  first = 5,
): NoticeLimit<Kind> {
  const kinds = new Map<Kind, { shown: number; suppressed: number; last: string; next: number }>();
  const withCount = (text: string, more: number) =>
    more === 0 ? text : `${text} (and ${more} more like this)`;
  return {
    show(kind, text) {
      if (!repeated.has(kind)) return text;
      const state = kinds.get(kind) ?? { shown: 0, suppressed: 0, last: '', next: 0 };
      kinds.set(kind, state);
      const now = mono();
      if (state.shown >= first && now < state.next) {
        state.suppressed++;
        state.last = text;
        return undefined;
      }
      const line = withCount(text, state.suppressed);
      state.suppressed = 0;
      state.shown++;
      state.next = now + Math.min(LONGEST_MS, PAUSE_MS * 2 ** Math.max(0, state.shown - first));
      return line;
    },
    rest() {
      const suppressed = [...kinds.values()].filter((state) => state.suppressed > 0);
      kinds.clear();
      return suppressed.map(({ last, suppressed: count }) => withCount(last, count - 1));
    },
  };
}
