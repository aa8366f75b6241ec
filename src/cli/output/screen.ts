import type { Display } from '../context.ts';

/** The messages of a run on stderr. While a question is open, notices wait and redrawn parts are hidden. */
export interface Screen {
  /** Prints a line to stderr; if a question is open, after its answer. */
  notice(text: string): void;
  display(shown: Display): () => void;
  /** Holds notices back and hides the redrawn parts of the terminal while `work` asks a question. */
  asking<T>(work: () => Promise<T>): Promise<T>;
}

export function createScreen(write: (text: string) => void): Screen {
  const displays = new Set<Display>();
  const waiting: string[] = [];
  let questions = 0;
  return {
    notice(text) {
      if (questions > 0) waiting.push(text);
      else write(text);
    },
    display(shown) {
      displays.add(shown);
      if (questions > 0) shown.hide();
      return () => void displays.delete(shown);
    },
    async asking(work) {
      questions++;
      for (const shown of displays) shown.hide();
      try {
        return await work();
      } finally {
        questions--;
        for (const text of waiting.splice(0)) write(text);
        for (const shown of displays) shown.show();
      }
    },
  };
}
